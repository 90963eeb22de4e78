import { fileLinkRevision, pageLinkRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { ApiVersion, FieldDefinition } from '../../domain/diamond/field.ts'
import { FIELDS, type DiamondFields, type FieldName, fieldsOf } from '../../domain/diamond/fields.ts'
import { rootOfStored, shapeTitle } from '../../domain/dictionaries/shapes.ts'
import { warningsOf } from '../../domain/certification/contradictions.ts'
import { certificationJson } from '../certification.ts'
import { formatTime, LINK_LIFETIMES, type LinkLifetime, type LinkBuilder } from '../json.ts'
import { scoresJsonForVersion, type ScoresJson } from './scores-json.ts'

export type DiamondRepresentation = {
  readonly diamond: LiveDiamond
  /** null until they are computed. */
  readonly scores: ScoresJson | null
}

/** Writes a diamond as JSON in the form of an API version. */
export function diamondJson(
  version: ApiVersion,
  { diamond, scores }: DiamondRepresentation,
  links: LinkBuilder,
): string {
  const { id, fields, date } = diamond
  const { described, levels } = MEMBERS[version]
  const certifications = version === 'v3' ? '' : `,"certifications":[${certificationsOf(diamond, links)}]`
  return (
    `{"id":${id}${members(described, fields)},"date":"${isoDate(date)}"${members(levels, fields)}${certifications}` +
    `,"scores":${scoresJsonForVersion(version, scores)},"_links":[{"rel":"page.report","href":"${reportPageLink(diamond, links)}"}]}`
  )
}

export const diamondListJson = (
  version: ApiVersion,
  diamonds: readonly DiamondRepresentation[],
  links: LinkBuilder,
): string => `[${diamonds.map((one) => diamondJson(version, one, links)).join(',')}]`

function reportPageLink(diamond: LiveDiamond, links: LinkBuilder): string {
  const page = `/diamond/${diamond.id}`
  return isRestricted(diamond)
    ? links.signed(page, LINK_LIFETIMES.untilAccessChanges, pageLinkRevision(diamond))
    : links.plain(page)
}

const isRestricted = ({ fields }: LiveDiamond) => fields.access === 0

/** The lifetimes of the signed links in a diamond's JSON; empty if it has none. */
export const linkLifetimes = (version: ApiVersion, diamond: LiveDiamond): readonly LinkLifetime[] => [
  ...(isRestricted(diamond) ? [LINK_LIFETIMES.untilAccessChanges] : []),
  ...(version === 'v4' && diamond.certifications.some(({ file }) => file !== null) ? [LINK_LIFETIMES.oneDay] : []),
]

type JsonWriter = (value: unknown) => string
type JsonMember = { readonly name: FieldName; readonly text: JsonWriter }

function members(jsonMembers: readonly JsonMember[], fields: DiamondFields): string {
  let json = ''
  for (const { name, text } of jsonMembers) json += text(fields[name])
  return json
}

/**
 * A member's JSON including its name. It is cached for kinds of fields with few distinct values: all but amounts and
 * texts.
 */
function memberOf(name: FieldName, version: ApiVersion): JsonMember {
  const [field, start] = [FIELDS[name], `,"${name}":`]
  const write = jsonWriterOf(field, version)
  if (field.kind === 'amount' || field.kind === 'text') return { name, text: (value) => start + write(value) }
  const cache = new Map<unknown, string>()
  const text: JsonWriter = (value) => {
    const cached = cache.get(value)
    if (cached !== undefined) return cached
    const json = start + write(value)
    if (typeof value !== 'string') cache.set(value, json)
    return json
  }
  return { name, text }
}

export function jsonWriterOf(field: FieldDefinition, version: ApiVersion): JsonWriter {
  switch (field.kind) {
    case 'text':
    case 'scale':
      return JSON.stringify
    case 'shape':
      return version === 'v3' ? (value) => String(rootOfStored(value as StoredCutShape)) : quotedWriter(shapeText)
    case 'entry':
      return version === 'v3' ? String : quotedWriter(field.dictionary[field.shown])
    default:
      // Numbers are finite, so `String` writes valid JSON.
      return String
  }
}

type StoredCutShape = DiamondFields['cutShape']

const shapeText = (shape: StoredCutShape) => (typeof shape === 'number' ? shapeTitle(shape) : shape)

const quotedWriter =
  <Value>(text: (value: Value) => string): JsonWriter =>
  (value) =>
    value === null ? 'null' : JSON.stringify(text(value as Value))

/** The stone's description comes before the date, and access levels after it. */
function membersIn(version: ApiVersion) {
  const isLevel = (name: FieldName) => FIELDS[name].kind === 'level'
  const [levels, described] = [fieldsOf(version).filter(isLevel), fieldsOf(version).filter((name) => !isLevel(name))]
  const all = (names: readonly FieldName[]) => names.map((name) => memberOf(name, version))
  return { described: all(described), levels: all(levels) }
}

const MEMBERS = { v3: membersIn('v3'), v4: membersIn('v4') }

function certificationsOf(diamond: LiveDiamond, links: LinkBuilder): string {
  if (diamond.certifications.length === 0) return ''
  const revision = fileLinkRevision(diamond)
  return diamond.certifications
    .map((one) => certificationJson(one, revision, links, warningsOf(one, diamond.fields)))
    .join(',')
}

/** Seconds since 1970 as `2014-11-27T21:11:00+00:00`. */
export const isoDate = memoiseLast((seconds) => formatTime(seconds * 1000))

/** Diamonds of a bulk have the same date, so the last result is cached. */
function memoiseLast(text: (seconds: number) => string): (seconds: number) => string {
  let last = { seconds: NaN, text: '' }
  return (seconds) => {
    if (seconds !== last.seconds) last = { seconds, text: text(seconds) }
    return last.text
  }
}
