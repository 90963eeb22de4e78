import { fileRevision, pageRevision, type LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { ApiVersion, Field } from '../../domain/diamond/field.ts'
import { FIELDS, type DiamondFields, type FieldName, fieldsOf } from '../../domain/diamond/fields.ts'
import { rootOfStored, shapeTitle } from '../../domain/dictionaries/shapes.ts'
import { warningsOf } from '../../domain/certification/contradictions.ts'
import { certificationText } from '../certification.ts'
import { LASTS, type Lasting, type LinkMaker } from '../json.ts'
import { shownScores, type ScoresText } from './scores.ts'

/** What a body shows. */
export type ShownDiamond = {
  readonly diamond: LiveDiamond
  /** null until they are computed. */
  readonly scores: ScoresText | null
}

/** A diamond's JSON text as a version shows it. */
export function bodyText(version: ApiVersion, { diamond, scores }: ShownDiamond, links: LinkMaker): string {
  const { id, fields, date } = diamond
  const { described, levels } = MEMBERS[version]
  const certifications = version === 'v3' ? '' : `,"certifications":[${certificationsOf(diamond, links)}]`
  return (
    `{"id":${id}${members(described, fields)},"date":"${isoDate(date)}"${members(levels, fields)}${certifications}` +
    `,"scores":${shownScores(version, scores)},"_links":[{"rel":"page.report","href":"${pageOf(diamond, links)}"}]}`
  )
}

/** The JSON text of several. */
export const listText = (version: ApiVersion, shown: readonly ShownDiamond[], links: LinkMaker): string =>
  `[${shown.map((one) => bodyText(version, one, links)).join(',')}]`

function pageOf(diamond: LiveDiamond, links: LinkMaker): string {
  const page = `/diamond/${diamond.id}`
  return isRestricted(diamond) ? links.signed(page, LASTS.withItsAccess, pageRevision(diamond)) : links.plain(page)
}

const isRestricted = ({ fields }: LiveDiamond) => fields.access === 0

/** How long each of the signed links in a diamond's body opens; empty where it has none. */
export const linkLifetimes = (version: ApiVersion, diamond: LiveDiamond): readonly Lasting[] => [
  ...(isRestricted(diamond) ? [LASTS.withItsAccess] : []),
  ...(version === 'v4' && diamond.certifications.some(({ file }) => file !== null) ? [LASTS.aDay] : []),
]

/** The JSON text of a field's value. */
type Write = (value: unknown) => string
type Member = { readonly name: FieldName; readonly text: Write }

function members(of: readonly Member[], fields: DiamondFields): string {
  let all = ''
  for (const { name, text } of of) all += text(fields[name])
  return all
}

/** A member with its name, kept for values of which there are few: all but amounts and texts. */
function memberOf(name: FieldName, version: ApiVersion): Member {
  const [field, start] = [FIELDS[name], `,"${name}":`]
  const write = writeOf(field, version)
  if (field.kind === 'amount' || field.kind === 'text') return { name, text: (value) => start + write(value) }
  const known = new Map<unknown, string>()
  const text: Write = (value) => {
    const found = known.get(value)
    if (found !== undefined) return found
    const made = start + write(value)
    if (typeof value !== 'string') known.set(value, made)
    return made
  }
  return { name, text }
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

const quoted =
  <Value>(text: (value: Value) => string): Write =>
  (value) =>
    value === null ? 'null' : JSON.stringify(text(value as Value))

/** What describes the stone stands before the date, who may see it behind. */
function membersIn(version: ApiVersion) {
  const isLevel = (name: FieldName) => FIELDS[name].kind === 'level'
  const [levels, described] = [fieldsOf(version).filter(isLevel), fieldsOf(version).filter((name) => !isLevel(name))]
  const all = (names: readonly FieldName[]) => names.map((name) => memberOf(name, version))
  return { described: all(described), levels: all(levels) }
}

const MEMBERS = { v3: membersIn('v3'), v4: membersIn('v4') }

function certificationsOf(diamond: LiveDiamond, links: LinkMaker): string {
  if (diamond.certifications.length === 0) return ''
  const revision = fileRevision(diamond)
  return diamond.certifications
    .map((one) => certificationText(one, revision, links, warningsOf(one, diamond.fields)))
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
