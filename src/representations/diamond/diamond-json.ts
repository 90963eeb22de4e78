import { fileLinkRevision, pageLinkRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { ApiVersion, FieldDefinition } from '../../domain/diamond/field.ts'
import { bodyMembersOf, FIELDS, memberNameOf, type DiamondFields, type FieldName } from '../../domain/diamond/fields.ts'
import { rootOfStored, shapeTitle } from '../../domain/dictionaries/shapes.ts'
import { proportionsOf } from '../../domain/diamond/scored-stone.ts'
import { hasProportions } from '../../domain/diamond/stated-proportions.ts'
import { warningsOf } from '../../domain/certification/warnings.ts'
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
  const isV3 = version === 'v3'
  const certifications = isV3 ? '' : `,"certifications":[${certificationsOf(diamond, links)}]`
  return (
    `{"id":${id}${members(described, fields)}${isV3 ? '' : proportionWarningsJson(diamond)},"date":"${isoDate(date)}"${members(levels, fields)}${certifications}` +
    `,"scores":${scoresJsonForVersion(version, scores)},"_links":[{"rel":"page.report","href":"${reportPageLink(diamond, links)}"}]}`
  )
}

export const diamondListJson = (
  version: ApiVersion,
  diamonds: readonly DiamondRepresentation[],
  links: LinkBuilder,
): string => `[${diamonds.map((one) => diamondJson(version, one, links)).join(',')}]`

/** The link to the report page that the owner may pass on: signed if the page is restricted. */
export function reportPageLink(diamond: LiveDiamond, links: LinkBuilder): string {
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

function proportionWarningsJson(diamond: LiveDiamond): string {
  if (!hasProportions(diamond.fields)) return ''
  const { warnings } = proportionsOf(diamond)
  return warnings.length === 0 ? '' : `,"proportionWarnings":${JSON.stringify(warnings)}`
}

type JsonWriter = (value: unknown) => string
/** Writes one or more members, each preceded by a comma. */
type MembersWriter = (fields: DiamondFields) => string

function members(writers: readonly MembersWriter[], fields: DiamondFields): string {
  let json = ''
  for (const write of writers) json += write(fields)
  return json
}

/** An object of several fields; nothing if none is set. */
function objectWriter(name: string, fieldsOfObject: readonly FieldName[], version: ApiVersion): MembersWriter {
  const writers = fieldsOfObject.map(
    (field) => [field, `,"${memberNameOf(field)}":`, jsonWriterOf(FIELDS[field], version)] as const,
  )
  return (fields) => {
    let json = ''
    for (const [field, start, write] of writers) if (fields[field] !== null) json += start + write(fields[field])
    return json === '' ? '' : `,"${name}":{${json.slice(1)}}`
  }
}

/**
 * A member's JSON including its name. It is cached for kinds of fields with few distinct values: all but amounts and
 * texts.
 */
function memberWriter(name: FieldName, version: ApiVersion): MembersWriter {
  const [field, start] = [FIELDS[name], `,"${name}":`]
  const write = jsonWriterOf(field, version)
  if (field.kind === 'amount' || field.kind === 'text') return (fields) => start + write(fields[name])
  const cache = new Map<unknown, string>()
  return (fields) => {
    const value = fields[name]
    const cached = cache.get(value)
    if (cached !== undefined) return cached
    const json = start + write(value)
    if (typeof value !== 'string') cache.set(value, json)
    return json
  }
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
  const [described, levels]: [MembersWriter[], MembersWriter[]] = [[], []]
  for (const [name, field] of bodyMembersOf(version)) {
    if (typeof field !== 'string') described.push(objectWriter(name, field, version))
    else (FIELDS[field].kind === 'level' ? levels : described).push(memberWriter(field, version))
  }
  return { described, levels }
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
