import { fileRevision, pageRevision } from '../../domain/diamond/access.ts'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { ApiVersion, Field } from '../../domain/diamond/field.ts'
import { FIELDS, type DiamondFields, type FieldName, fieldsOf } from '../../domain/diamond/fields.ts'
import type { Scores } from '../../domain/diamond/scores.ts'
import { rootOfStored, shapeTitle } from '../../domain/dictionaries/shapes.ts'
import { warningsOf } from '../../domain/certification/contradictions.ts'
import { certificationText } from '../certification.ts'
import { LASTS, plainLink, signedLink } from '../links.ts'
import { scoresTexts } from './scores.ts'

/** The parts of a diamond's JSON text, each finished but for the links in it (links.ts). */
export type BodyParts = {
  /** All that its owner has said, up to the scores. */
  readonly stone: string
  /** The value of `scores`: `scoresTexts` for the version. */
  readonly scores: string
  /** The value of `_links`. */
  readonly links: string
}

export const joined = ({ stone, scores, links }: BodyParts): string => `${stone},"scores":${scores},"_links":${links}}`

/** The whole of a diamond's JSON text. */
export const bodyText = (version: ApiVersion, diamond: LiveDiamond, scores: Scores | null): string =>
  joined({
    stone: stoneText(version, diamond),
    scores: scoresTexts(scores)[version],
    links: linksText(diamond),
  })

/** The first part of a diamond's JSON text as a version shows it. */
export function stoneText(version: ApiVersion, diamond: LiveDiamond): string {
  const { id, fields, date } = diamond
  const { described, levels } = WRITERS[version]
  const certifications = version === 'v3' ? '' : `,"certifications":[${certificationsOf(diamond)}]`
  return `{"id":${id}${members(described, fields)},"date":"${isoDate(date)}"${members(levels, fields)}${certifications}`
}

/** The last part, the same in both versions. */
export function linksText(diamond: LiveDiamond): string {
  const page = `/diamond/${diamond.id}`
  const isRestricted = diamond.fields.access === 0
  const href = isRestricted ? signedLink(page, LASTS.withItsAccess, pageRevision(diamond)) : plainLink(page)
  return `[{"rel":"page.report","href":"${href}"}]`
}

/** The JSON text of a field's value. */
type Write = (value: unknown) => string
/** A member's text up to its value, the field, and how its value is written. */
type Writer = readonly [start: string, name: FieldName, write: Write]

function members(writers: readonly Writer[], fields: DiamondFields): string {
  let text = ''
  for (const [start, name, write] of writers) text += start + write(fields[name])
  return text
}

/** How a version shows a field, by the field's kind. */
export function writeOf(field: Field, version: ApiVersion): Write {
  switch (field.kind) {
    case 'text':
    case 'scale':
      return JSON.stringify
    case 'shape':
      return version === 'v3' ? (value) => String(rootOfStored(value as Shape)) : quoted(shapeShown)
    case 'entry':
      return version === 'v3' ? String : quoted(field.dictionary[field.shown])
    default:
      // Numbers are finite: their text is JSON's.
      return String
  }
}

type Shape = DiamondFields['cutShape']

const shapeShown = (shape: Shape) => (typeof shape === 'number' ? shapeTitle(shape) : shape)

/** Texts quoted once that stand in many bodies: those of a dictionary's ids. Others are quoted as they come. */
function quoted<Value>(text: (value: Value) => string): Write {
  const known = new Map<unknown, string>()
  return (value) => {
    if (value === null) return 'null'
    const found = known.get(value)
    if (found !== undefined) return found
    const made = JSON.stringify(text(value as Value))
    if (typeof value === 'number') known.set(value, made)
    return made
  }
}

/** What describes the stone stands before the date, who may see it behind. */
function writers(version: ApiVersion) {
  const all = fieldsOf(version).map((name): Writer => [`,"${name}":`, name, writeOf(FIELDS[name], version)])
  const isLevel = ([, name]: Writer) => FIELDS[name].kind === 'level'
  return { described: all.filter((writer) => !isLevel(writer)), levels: all.filter(isLevel) }
}

const WRITERS = { v3: writers('v3'), v4: writers('v4') }

function certificationsOf(diamond: LiveDiamond): string {
  if (diamond.certifications.length === 0) return ''
  const revision = fileRevision(diamond)
  return diamond.certifications
    .map((one) => certificationText(one, revision, warningsOf(one, diamond.fields)))
    .join(',')
}

/** Of seconds since 1970: `2014-11-27T21:11:00+00:00`. */
export const isoDate = remembering((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+00:00`)

/** The stones of a bulk have one date: its last text is kept. */
function remembering(text: (seconds: number) => string): (seconds: number) => string {
  let last = { seconds: NaN, text: '' }
  return (seconds) => {
    if (seconds !== last.seconds) last = { seconds, text: text(seconds) }
    return last.text
  }
}
