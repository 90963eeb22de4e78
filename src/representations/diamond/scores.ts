import type { ApiVersion } from '../../domain/diamond/field.ts'
import { SCORES, type ScoreName, type Scores } from '../../domain/diamond/scores.ts'

export type ScoresTexts = Readonly<Record<ApiVersion, string>>

/** What v4 shows of a score and v3 does not. */
const NOT_IN_V3: ReadonlySet<string> = new Set(['color', 'colorCode'])

export const isShown = (member: string, version: ApiVersion) => version === 'v4' || !NOT_IN_V3.has(member)

const NAMES = Object.keys(SCORES) as readonly ScoreName[]

/** The JSON text of scores as each version shows them. @param scores null until they are computed */
export function scoresTexts(scores: Scores | null): ScoresTexts {
  if (scores === null) return NO_SCORES
  let [v3, v4] = ['', '']
  for (const [name, start] of STARTS) {
    const score = scores[name]
    const text = scoreText(MEMBERS.v4[name], score)
    v4 += start + text
    v3 += start + (name === 'fluor' ? scoreText(MEMBERS.v3[name], score) : text)
  }
  return { v3: `${v3}}`, v4: `${v4}}` }
}

/** Each score, and the text up to its value. */
const STARTS = NAMES.map((name, index) => [name, `${index === 0 ? '{' : ','}"${name}":`] as const)

/** A member's name, and its text up to the value. */
type Member = readonly [name: string, start: string]

function scoreText(members: readonly Member[], score: Readonly<Record<string, string | number>> | null): string {
  if (score === null) return 'null'
  let text = ''
  for (const [name, start] of members) {
    const value = score[name] ?? null
    text += start + (typeof value === 'string' ? quoted(value) : value)
  }
  return `${text}}`
}

const membersIn = (version: ApiVersion) =>
  Object.fromEntries(
    NAMES.map((name) => {
      const shown = SCORES[name].filter((member) => isShown(member, version))
      return [name, shown.map((member, index): Member => [member, `${index === 0 ? '{' : ','}"${member}":`])]
    }),
  ) as unknown as Readonly<Record<ScoreName, readonly Member[]>>

const MEMBERS = { v3: membersIn('v3'), v4: membersIn('v4') }

/** The versions of the model, which are few, each quoted once: a stone that is scored has six of them. */
const VERSIONS = new Map<string, string>()
/** More are no versions of a model. */
const VERSIONS_KEPT = 100

function quoted(version: string): string {
  const known = VERSIONS.get(version)
  if (known !== undefined) return known
  const text = JSON.stringify(version)
  if (VERSIONS.size < VERSIONS_KEPT) VERSIONS.set(version, text)
  return text
}

const NO_SCORES: ScoresTexts = (() => {
  const none = `{${NAMES.map((name) => `"${name}":null`).join(',')}}`
  return { v3: none, v4: none }
})()
