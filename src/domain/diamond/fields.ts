import { clarity, color, colorHue, colorModifier, fancyGrade } from '../dictionaries/colors.ts'
import { cutQuality, polish, symmetry } from '../dictionaries/cut-grades.ts'
import { fluorColor, fluorIntensity } from '../dictionaries/fluorescence.ts'
import { culet, girdle } from '../dictionaries/girdle-and-culet.ts'
import { measurementRanges } from '../../optics/cut/proportions.ts'
import {
  amount,
  entry,
  flag,
  level,
  scale,
  shape,
  text,
  type ApiVersion,
  type FieldDefinition,
  type FieldValueOf,
} from './field.ts'

const proportion = (range: { readonly over?: number; readonly from?: number; readonly to: number }) =>
  amount({ ...range, versions: ['v4'], scored: true })

const within = ([from, to]: readonly [from: number, to: number]) => proportion({ from, to })

/** Millimetres: longer than any diamond. */
const millimetres = proportion({ over: 0, to: 500 })

/**
 * The writable fields of a diamond, in the order of response bodies. The type of a diamond, the schema of its events, the
 * fields of both API versions, the columns of spreadsheets, the filters and sort orders of lists, and the inputs of the scores
 * are derived from this table. In bodies, a field `proportions.table` is the member `table` of the object `proportions`.
 * Descriptions for people are in representations/diamond/field-descriptions.ts.
 *
 * `price`: the vendor chooses the currency. `access`: 0 restricted, 1 unlisted, 2 public. `dataAccess`: 0 hides all design
 * data, 1 hides the model and the reports, 2 hides nothing.
 */
export const FIELDS = {
  sku: text({ to: 128, required: true, filtered: ['v3', 'v4'], sorted: 'ascending' }),
  price: amount({ from: 0, filtered: ['v4'], sorted: 'both ways' }),
  isColored: flag({ filtered: ['v3', 'v4'] }),
  isLabGrown: flag({ versions: ['v4'], filtered: ['v4'] }),
  isPublished: flag({ versions: ['v3'], filtered: ['v3'] }),
  cutShape: shape({ to: 64, required: true, scored: true, filtered: ['v4'] }),
  carat: amount({ over: 0, to: 10_000, required: true, scored: true, filtered: ['v4'], sorted: 'both ways' }),
  clarity: entry(clarity, { shown: 'short', filtered: ['v4'] }),
  color: entry(color, { shown: 'short', filtered: ['v4'] }),
  cutQuality: entry(cutQuality, { scored: true }),
  polish: entry(polish, { scored: true }),
  symmetry: entry(symmetry, { scored: true }),
  fluorIntensity: entry(fluorIntensity, { shown: 'short', scored: true }),
  fluorColor: entry(fluorColor, { shown: 'short', scored: true }),
  fancyGrade: entry(fancyGrade),
  colorHue: entry(colorHue),
  colorModifier: entry(colorModifier),
  culetSize: scale(culet, { versions: ['v4'], scored: true }),
  girdle: scale(girdle, { versions: ['v4'], scored: true }),
  'proportions.length': millimetres,
  'proportions.width': millimetres,
  'proportions.height': millimetres,
  'proportions.table': within(measurementRanges.tablePct),
  'proportions.depth': within(measurementRanges.depthPct),
  'proportions.girdle': within(measurementRanges.girdlePct),
  'proportions.crownHeight': within([1, 60]),
  'proportions.pavilionDepth': within([10, 100]),
  'proportions.star': within(measurementRanges.starPct),
  'proportions.lower': within(measurementRanges.lowerPct),
  'proportions.crownAngle': within(measurementRanges.crownAngle),
  'proportions.pavilionAngle': within(measurementRanges.pavilionAngle),
  access: level({ versions: ['v4'] }),
  dataAccess: level({ versions: ['v4'] }),
} satisfies Record<string, FieldDefinition>

/** Increment it with every change of the table above: read models that depend on the table are then rebuilt. */
export const FIELDS_VERSION = 2

type FieldTable = typeof FIELDS
export type FieldName = keyof FieldTable

export const isField = (name: string): name is FieldName => Object.hasOwn(FIELDS, name)

export type DiamondFields = { readonly [Name in FieldName]: FieldValueOf<FieldTable[Name]> }

type FieldNamesWith<Trait> = { [Name in FieldName]: FieldTable[Name] extends Trait ? Name : never }[FieldName]
export type RequiredField = FieldNamesWith<{ readonly required: true }>
export type OptionalField = Exclude<FieldName, RequiredField>
export type FilterableField = FieldNamesWith<{ readonly filtered: readonly [ApiVersion, ...ApiVersion[]] }>
export type V4FilterableField = {
  [Name in FieldName]: 'v4' extends FieldTable[Name]['filtered'][number] ? Name : never
}[FieldName]
export type FieldSortableBothWays = FieldNamesWith<{ readonly sorted: 'both ways' }>
export type FieldSortableAscending = FieldNamesWith<{ readonly sorted: 'ascending' }>
export type DictionaryName = FieldNamesWith<{ readonly kind: 'entry' }>
export type ProportionField = Extract<FieldName, `proportions.${string}`>

/** A requested change: values to set, and fields to reset to their defaults. */
export type DiamondFieldChanges = {
  readonly set: Readonly<Partial<DiamondFields>>
  readonly removed: readonly OptionalField[]
  /** The shape is given as a top-level id: a diamond whose shape belongs to it keeps its more specific shape. */
  readonly shapeByRoot?: true
}

export type NewDiamond = Readonly<Partial<DiamondFields>> & Readonly<Pick<DiamondFields, RequiredField>>

export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[]

/** The fields of an API version, in the table's order. */
export const fieldsOf = (version: ApiVersion) =>
  FIELD_NAMES.filter((name) => (FIELDS[name].versions as readonly ApiVersion[]).includes(version))

/** The name of a field in the object that holds it, if one does: `table` for `proportions.table`. */
export const memberNameOf = (name: FieldName): string => name.split('.').at(-1) ?? name

/** The members of a body that hold an API version's fields, in their order: a field, or the fields of an object. */
export function bodyMembersOf(version: ApiVersion): ReadonlyMap<string, FieldName | readonly FieldName[]> {
  const members = new Map<string, FieldName | FieldName[]>()
  for (const field of fieldsOf(version)) {
    const [member = field, ...path] = field.split('.')
    const fields = members.get(member)
    if (path.length === 0) members.set(member, field)
    else if (Array.isArray(fields)) fields.push(field)
    else members.set(member, [field])
  }
  return members
}

const fieldNamesWhere = <Name extends FieldName>(predicate: (field: FieldDefinition) => boolean) =>
  FIELD_NAMES.filter((name) => predicate(FIELDS[name])) as unknown as readonly Name[]

export const REQUIRED_FIELDS = fieldNamesWhere<RequiredField>(({ required }) => required)
const OPTIONAL_FIELDS = fieldNamesWhere<OptionalField>(({ required }) => !required)

export const FILTERABLE_FIELDS = fieldNamesWhere<FilterableField>(({ filtered }) => filtered.length > 0)

export const isProportion = (name: string): name is ProportionField => name.startsWith('proportions.')

export const PROPORTION_FIELDS = FIELD_NAMES.filter(isProportion)

export const SCORED_FIELDS: ReadonlySet<FieldName> = new Set(fieldNamesWhere(({ scored }) => scored))

const mapFieldNames = <Name extends FieldName, Value>(names: readonly Name[], toValue: (name: Name) => Value) =>
  Object.fromEntries(names.map((name) => [name, toValue(name)])) as { readonly [Each in Name]: Value }

export const DICTIONARIES = mapFieldNames(
  fieldNamesWhere<DictionaryName>(({ kind }) => kind === 'entry'),
  (name) => FIELDS[name].dictionary,
) as { readonly [Name in DictionaryName]: FieldTable[Name]['dictionary'] }

/** The values of optional fields until they are set, and after null resets them. */
export const DEFAULTS = mapFieldNames(OPTIONAL_FIELDS, (name) => FIELDS[name].default) as Readonly<
  Pick<DiamondFields, OptionalField>
>

/** Required fields come first in events. */
const STORAGE_ORDER: readonly FieldName[] = [...REQUIRED_FIELDS, ...OPTIONAL_FIELDS]

/** The fields whose values differ from their defaults; events contain only these. */
export function withoutDefaults(fields: NewDiamond): NewDiamond {
  const storedFields: Record<string, unknown> = {}
  for (const name of STORAGE_ORDER) {
    const value = fields[name]
    if (value !== undefined && value !== FIELDS[name].default) storedFields[name] = value
  }
  return storedFields as NewDiamond
}

/**
 * Made with JSON.parse for speed: V8 gives an object that is filled name by name no fixed shape beyond a dozen members, and
 * creating and copying it then takes ten times as long.
 */
const UNSET = JSON.parse(JSON.stringify(mapFieldNames(FIELD_NAMES, (name) => FIELDS[name].default))) as DiamondFields

/** All fields; those not in `set` have their defaults. */
export const withDefaults = (set: NewDiamond): DiamondFields => Object.assign({ ...UNSET }, set)
