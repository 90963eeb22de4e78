import { z } from 'zod'
import type { ApiVersion, Field } from '../../domain/diamond/field.ts'
import {
  FIELDS,
  fieldsOf,
  type Change,
  type FieldName,
  type NewDiamond,
  type OptionalField,
} from '../../domain/diamond/fields.ts'
import { isTextMember, SCORES, type ScoreName } from '../../domain/diamond/scores.ts'
import { CERTIFICATION } from '../certification.ts'
import { assigned, DIAMOND_ID, objectOf } from '../parse.ts'
import { writeOf } from './body.ts'
import { fieldSchema, shownSchema, V4_FIELDS } from './field-schemas.ts'
import { isShown } from './scores.ts'
import { WORDS } from './words.ts'

type Versions<Schema extends z.ZodType = z.ZodType> = Readonly<Record<ApiVersion, Schema>>

const versions = <Schema extends z.ZodType>(schemaOf: (version: ApiVersion) => Schema): Versions<Schema> => ({
  v3: schemaOf('v3'),
  v4: schemaOf('v4'),
})

/** Words for people, and an example in the version's own form. */
function described(name: FieldName, version: ApiVersion) {
  const { about, example } = WORDS[name]
  const value = V4_FIELDS[name].parse(example)
  return { description: about, examples: [JSON.parse(writeOf(FIELDS[name], version)(value)) as unknown] }
}

/** What the service assigns of a diamond. */
export const ASSIGNED = ['id', 'date', 'certifications', 'scores', '_links'] as const

type Given = Readonly<Record<string, unknown>>

/**
 * The members of a diamond that is sent.
 * @param absent what is said where a required field has no value, or is null
 * @param required what becomes of the schema of a required field
 */
const members = (version: ApiVersion, absent: string, required: (schema: z.ZodType) => z.ZodType) => ({
  ...Object.fromEntries(
    fieldsOf(version).map((name) => {
      const schema = fieldSchema(name, version, absent).meta(described(name, version))
      return [name, FIELDS[name].required ? required(schema) : schema.nullish()]
    }),
  ),
  ...assigned(ASSIGNED),
})

const IS_ASSIGNED: ReadonlySet<string> = new Set(ASSIGNED)

/** What was sent of fields: values to set, and those of which null was sent. */
function sentOf(given: Given): Pick<Change, 'set' | 'removed'> {
  const set: Record<string, unknown> = {}
  const removed: OptionalField[] = []
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || IS_ASSIGNED.has(name)) continue
    if (value === null) removed.push(name as OptionalField)
    else set[name] = value
  }
  return { set, removed }
}

/** A diamond to create: null is the same as absent. */
export const NEW_DIAMOND: Versions<z.ZodType<NewDiamond>> = versions((version) =>
  objectOf(
    members(version, 'is required', (schema) => schema),
    'a diamond',
  )
    .transform((given: Given) => sentOf(given).set as NewDiamond)
    .meta({ id: `NewDiamond.${version}` }),
)

const changes = (version: ApiVersion) =>
  members(version, "can't be removed; send a new value or leave it out", (schema) => schema.optional())

/** v3 shows the root of every shape: sent back, it says no more than that. */
const changeOf = (version: ApiVersion, given: Given): Change =>
  version === 'v3' ? { ...sentOf(given), shapeByRoot: true } : sentOf(given)

/** What changes of a diamond: null removes a value, but of what every diamond has. */
export const DIAMOND_CHANGES: Versions<z.ZodType<Change>> = versions((version) =>
  objectOf(changes(version), 'a diamond')
    .transform((given: Given) => changeOf(version, given))
    .meta({ id: `DiamondChanges.${version}` }),
)

/** One of many diamonds, and what changes of it. */
export const CHANGES_OF_ONE = versions((version) =>
  objectOf({ ...changes(version), id: DIAMOND_ID }, 'a diamond')
    .transform(({ id, ...given }) => ({ id, change: changeOf(version, given) }))
    .meta({ id: `ChangesOfDiamond.${version}` }),
)

const links = z.array(z.object({ rel: z.string(), href: z.url() }))

const scoreOf = (name: ScoreName, version: ApiVersion) =>
  z
    .object(
      Object.fromEntries(
        SCORES[name]
          .filter((member) => isShown(member, version))
          .map((member) => [member, isTextMember(member) ? z.string() : z.number()]),
      ),
    )
    .nullable()

const scoresOf = (version: ApiVersion) =>
  z.object(Object.fromEntries((Object.keys(SCORES) as ScoreName[]).map((name) => [name, scoreOf(name, version)])))

/** A field's value as a version shows it. */
function shown(name: FieldName, version: ApiVersion): z.ZodType {
  const field: Field = FIELDS[name]
  const schema = shownSchema(field, version).meta(described(name, version))
  return field.required || field.default !== null ? schema : schema.nullable()
}

/** A diamond as it is answered. */
export const DIAMOND = versions((version) =>
  z
    .strictObject({
      id: z.int(),
      ...Object.fromEntries(fieldsOf(version).map((name) => [name, shown(name, version)])),
      date: z.iso.datetime({ offset: true }).describe('When it was created, UTC.'),
      ...(version === 'v4' && { certifications: z.array(CERTIFICATION) }),
      scores: scoresOf(version).describe('Optical scores, null until they are computed.'),
      _links: links,
    })
    .meta({ id: `Diamond.${version}` }),
)
