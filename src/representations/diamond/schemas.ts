import { z } from 'zod'
import type { ApiVersion, FieldDefinition } from '../../domain/diamond/field.ts'
import {
  FIELDS,
  fieldsOf,
  type DiamondFieldChanges,
  type FieldName,
  type NewDiamond,
  type OptionalField,
} from '../../domain/diamond/fields.ts'
import { isTextMember, SCORE_MEMBERS, type ScoreName } from '../../domain/diamond/scores.ts'
import { CERTIFICATION } from '../certification.ts'
import { assignedMembers, DIAMOND_ID, objectSchema } from '../parse.ts'
import { jsonWriterOf } from './diamond-json.ts'
import { fieldSchema, outputSchema, V4_FIELDS } from './field-schemas.ts'
import { isShownInVersion } from './scores-json.ts'
import { FIELD_DESCRIPTIONS } from './field-descriptions.ts'

type PerApiVersion<Schema extends z.ZodType = z.ZodType> = Readonly<Record<ApiVersion, Schema>>

const versions = <Schema extends z.ZodType>(schemaOf: (version: ApiVersion) => Schema): PerApiVersion<Schema> => ({
  v3: schemaOf('v3'),
  v4: schemaOf('v4'),
})

/** Words for people, and an example in the version's own form. */
function documentationOf(name: FieldName, version: ApiVersion) {
  const { about, example } = FIELD_DESCRIPTIONS[name]
  const value = V4_FIELDS[name].parse(example)
  return { description: about, examples: [JSON.parse(jsonWriterOf(FIELDS[name], version)(value)) as unknown] }
}

/** What the service assigns of a diamond. */
export const ASSIGNED_MEMBERS = ['id', 'date', 'certifications', 'scores', '_links'] as const

type DiamondInput = Readonly<Record<string, unknown>>

/**
 * The members of a diamond that is sent.
 * @param absent what is said where a required field has no value, or is null
 * @param required what becomes of the schema of a required field
 */
const memberSchemas = (version: ApiVersion, absent: string, required: (schema: z.ZodType) => z.ZodType) => ({
  ...Object.fromEntries(
    fieldsOf(version).map((name) => {
      const schema = fieldSchema(name, version, absent).meta(documentationOf(name, version))
      return [name, FIELDS[name].required ? required(schema) : schema.nullish()]
    }),
  ),
  ...assignedMembers(ASSIGNED_MEMBERS),
})

const IS_ASSIGNED: ReadonlySet<string> = new Set(ASSIGNED_MEMBERS)

/** What was sent of fields: values to set, and those of which null was sent. */
function splitInput(given: DiamondInput): Pick<DiamondFieldChanges, 'set' | 'removed'> {
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
export const NEW_DIAMOND: PerApiVersion<z.ZodType<NewDiamond>> = versions((version) =>
  objectSchema(
    memberSchemas(version, 'is required', (schema) => schema),
    'a diamond',
  )
    .transform((given: DiamondInput) => splitInput(given).set as NewDiamond)
    .meta({ id: `NewDiamond.${version}` }),
)

const changes = (version: ApiVersion) =>
  memberSchemas(version, "can't be removed; send a new value or leave it out", (schema) => schema.optional())

/** v3 shows the root of every shape: sent back, it says no more than that. */
const toFieldChanges = (version: ApiVersion, given: DiamondInput): DiamondFieldChanges =>
  version === 'v3' ? { ...splitInput(given), shapeByRoot: true } : splitInput(given)

/** What changes of a diamond: null removes a value, but of what every diamond has. */
export const DIAMOND_CHANGES: PerApiVersion<z.ZodType<DiamondFieldChanges>> = versions((version) =>
  objectSchema(changes(version), 'a diamond')
    .transform((given: DiamondInput) => toFieldChanges(version, given))
    .meta({ id: `DiamondChanges.${version}` }),
)

/** One of many diamonds, and what changes of it. */
export const IDENTIFIED_FIELD_CHANGES = versions((version) =>
  objectSchema({ ...changes(version), id: DIAMOND_ID }, 'a diamond')
    .transform(({ id, ...given }) => ({ id, change: toFieldChanges(version, given) }))
    .meta({ id: `ChangesOfDiamond.${version}` }),
)

const links = z.array(z.object({ rel: z.string(), href: z.url() }))

const scoreOf = (name: ScoreName, version: ApiVersion) =>
  z
    .object(
      Object.fromEntries(
        SCORE_MEMBERS[name]
          .filter((member) => isShownInVersion(member, version))
          .map((member) => [member, isTextMember(member) ? z.string() : z.number()]),
      ),
    )
    .nullable()

const scoresOf = (version: ApiVersion) =>
  z.object(
    Object.fromEntries((Object.keys(SCORE_MEMBERS) as ScoreName[]).map((name) => [name, scoreOf(name, version)])),
  )

/** A field's value as a version shows it. */
function outputFieldSchema(name: FieldName, version: ApiVersion): z.ZodType {
  const field: FieldDefinition = FIELDS[name]
  const schema = outputSchema(field, version).meta(documentationOf(name, version))
  return field.required || field.default !== null ? schema : schema.nullable()
}

/** A diamond as it is answered. */
export const DIAMOND = versions((version) =>
  z
    .strictObject({
      id: z.int(),
      ...Object.fromEntries(fieldsOf(version).map((name) => [name, outputFieldSchema(name, version)])),
      date: z.iso.datetime({ offset: true }).describe('When it was created, UTC.'),
      ...(version === 'v4' && { certifications: z.array(CERTIFICATION) }),
      scores: scoresOf(version).describe('Optical scores, null until they are computed.'),
      _links: links,
    })
    .meta({ id: `Diamond.${version}` }),
)
