import type { ApiVersion } from '../../domain/diamond/field.ts'
import { SCORE_MEMBERS, type ScoreName, type Scores } from '../../optics/scores.ts'

/** Members of scores that only v4 shows. */
const NOT_IN_V3: ReadonlySet<string> = new Set(['color', 'colorCode'])

export const isShownInVersion = (member: string, version: ApiVersion) => version === 'v4' || !NOT_IN_V3.has(member)

const NAMES = Object.keys(SCORE_MEMBERS) as readonly ScoreName[]

/** Scores as JSON in v4 form, as stored. */
export type ScoresJson = string

/** Writes scores as JSON in the form of an API version. */
export function toScoresJson(version: ApiVersion, scores: Scores): string {
  let text = ''
  for (const [name, start] of STARTS) text += start + scoreText(MEMBERS[version][name], scores[name])
  return `${text}}`
}

/** Converts stored scores to an API version. @param stored null until they are computed */
export function scoresJsonForVersion(version: ApiVersion, stored: ScoresJson | null): string {
  if (stored === null) return NO_SCORES
  return version === 'v4' ? stored : toScoresJson(version, parseScores(stored))
}

export const parseScores = (stored: ScoresJson): Scores => JSON.parse(stored) as Scores

/** Returns false also if no score could be computed. */
export const hasScores = (stored: ScoresJson | null): stored is ScoresJson => stored !== null && stored !== NO_SCORES

/** The text before each score's value. */
const STARTS = NAMES.map((name, index) => [name, `${index === 0 ? '{' : ','}"${name}":`] as const)

type ScoreJsonMember = readonly [name: string, start: string]

function scoreText(
  members: readonly ScoreJsonMember[],
  score: Readonly<Record<string, string | number>> | null,
): string {
  if (score === null) return 'null'
  let text = ''
  for (const [name, start] of members) {
    const value = score[name] ?? null
    text += start + (typeof value === 'string' ? quoteVersion(value) : value)
  }
  return `${text}}`
}

const membersIn = (version: ApiVersion) =>
  Object.fromEntries(
    NAMES.map((name) => {
      const shown = SCORE_MEMBERS[name].filter((member) => isShownInVersion(member, version))
      return [name, shown.map((member, index): ScoreJsonMember => [member, `${index === 0 ? '{' : ','}"${member}":`])]
    }),
  ) as unknown as Readonly<Record<ScoreName, readonly ScoreJsonMember[]>>

const MEMBERS = { v3: membersIn('v3'), v4: membersIn('v4') }

/** Quoted model versions. There are few, and each scored diamond contains six. */
const QUOTED_VERSIONS = new Map<string, string>()
const MAX_QUOTED_VERSIONS = 100

function quoteVersion(version: string): string {
  const cached = QUOTED_VERSIONS.get(version)
  if (cached !== undefined) return cached
  const text = JSON.stringify(version)
  if (QUOTED_VERSIONS.size < MAX_QUOTED_VERSIONS) QUOTED_VERSIONS.set(version, text)
  return text
}

/** Shown until scores are computed. */
const NO_SCORES: ScoresJson = `{${NAMES.map((name) => `"${name}":null`).join(',')}}`
