import { z } from 'zod'
import type { ApiVersion, FieldDefinition } from '../../domain/diamond/field.ts'
import {
  bodyMembersOf,
  FIELDS,
  memberNameOf,
  PROPORTION_FIELDS,
  type DiamondFieldChanges,
  type FieldName,
  type NewDiamond,
  type OptionalField,
} from '../../domain/diamond/fields.ts'
import { isTextMember, SCORE_MEMBERS, type ScoreName } from '../../optics/scores.ts'
import { CERTIFICATION } from '../certification.ts'
import { assignedMembers, DIAMOND_ID, exampleObject, objectSchema } from '../parse.ts'
import { documentationOf, fieldSchema, outputSchema } from './field-schemas.ts'
import { PROPORTION_CHANGES, PROPORTION_WARNINGS, PROPORTIONS } from './proportion-schemas.ts'
import { isShownInVersion } from './scores-json.ts'

type PerApiVersion<Schema extends z.ZodType = z.ZodType> = Readonly<Record<ApiVersion, Schema>>

const versions = <Schema extends z.ZodType>(schemaOf: (version: ApiVersion) => Schema): PerApiVersion<Schema> => ({
  v3: schemaOf('v3'),
  v4: schemaOf('v4'),
})

export const ASSIGNED_MEMBERS = ['id', 'date', 'proportionWarnings', 'certifications', 'scores', '_links'] as const

/**
 * The members of a diamond in a request.
 * @param absentMessage the message for a required field that is null or missing
 * @param required transforms the schema of a required field
 */
const memberSchemas = (version: ApiVersion, absentMessage: string, required: (schema: z.ZodType) => z.ZodType) => ({
  ...mapMembers(
    version,
    (name) => {
      const schema = fieldSchema(name, version, absentMessage).meta(documentationOf(name, version))
      return FIELDS[name].required ? required(schema) : schema.nullish()
    },
    PROPORTION_CHANGES,
  ),
  ...assignedMembers(ASSIGNED_MEMBERS.filter((name) => version === 'v4' || name !== 'proportionWarnings')),
})

/** The schemas of the members that hold fields. */
const mapMembers = (version: ApiVersion, schemaOf: (name: FieldName) => z.ZodType, proportions: z.ZodType) =>
  Object.fromEntries(
    [...bodyMembersOf(version)].map(([member, fields]) => [
      member,
      typeof fields === 'string' ? schemaOf(fields) : proportions,
    ]),
  )

const IS_ASSIGNED: ReadonlySet<string> = new Set(ASSIGNED_MEMBERS)

type DiamondInput = Readonly<Record<string, unknown>>

/** The members of a stone in the examples of the API reference. */
const EXAMPLE_MEMBERS = 'sku price cutShape carat clarity color cutQuality polish symmetry proportions'.split(' ')

/** A diamond to create. null means absent. */
export const NEW_DIAMOND: PerApiVersion<z.ZodType<NewDiamond>> = versions((version) => {
  const members = memberSchemas(version, 'is required', (schema) => schema)
  return objectSchema(members, 'a diamond')
    .transform((given: DiamondInput) => splitInput(given).set as NewDiamond)
    .meta({ id: `NewDiamond.${version}`, examples: [exampleObject(members, EXAMPLE_MEMBERS)] })
})

/** Splits the input into values to set and fields to remove (null). */
function splitInput(given: DiamondInput): Pick<DiamondFieldChanges, 'set' | 'removed'> {
  const set: Record<string, unknown> = {}
  const removed: OptionalField[] = []
  const add = (name: string, value: unknown) => {
    if (value === null) removed.push(name as OptionalField)
    else if (value !== undefined) set[name] = value
  }
  for (const [name, value] of Object.entries(given)) {
    if (IS_ASSIGNED.has(name) || value === undefined) continue
    if (name !== 'proportions') add(name, value)
    else for (const field of PROPORTION_FIELDS) add(field, value && (value as DiamondInput)[memberNameOf(field)])
  }
  return { set, removed }
}

const changes = (version: ApiVersion) =>
  memberSchemas(version, "is required and can't be removed; send a new value or leave it out", (schema) =>
    schema.optional(),
  )

/** v3 shows only the root of a shape, so a shape that a client sends back must not replace a more specific one. */
const toFieldChanges = (version: ApiVersion, given: DiamondInput): DiamondFieldChanges =>
  version === 'v3' ? { ...splitInput(given), shapeByRoot: true } : splitInput(given)

/** Changes to a diamond. null resets to the default and is an error for required fields. */
export const DIAMOND_CHANGES: PerApiVersion<z.ZodType<DiamondFieldChanges>> = versions((version) =>
  objectSchema(changes(version), 'a diamond')
    .transform((given: DiamondInput) => toFieldChanges(version, given))
    .meta({ id: `DiamondChanges.${version}`, examples: [exampleObject(changes(version), ['price'])] }),
)

export const IDENTIFIED_FIELD_CHANGES = versions((version) => {
  const members = { ...changes(version), id: DIAMOND_ID }
  return objectSchema(members, 'a diamond')
    .transform(({ id, ...given }) => ({ id, change: toFieldChanges(version, given) }))
    .meta({ id: `ChangesOfDiamond.${version}`, examples: [exampleObject(members, ['id', 'price'])] })
})

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

export const DIAMOND = versions((version) =>
  z
    .strictObject({
      id: z.int(),
      ...mapMembers(version, (name) => outputFieldSchema(name, version), PROPORTIONS),
      ...(version === 'v4' && { proportionWarnings: PROPORTION_WARNINGS }),
      date: z.iso.datetime({ offset: true }).describe('When it was created, UTC.'),
      ...(version === 'v4' && { certifications: z.array(CERTIFICATION) }),
      scores: scoresOf(version).describe('Optical scores, null until they are computed.'),
      _links: links,
    })
    .meta({ id: `Diamond.${version}` }),
)

function outputFieldSchema(name: FieldName, version: ApiVersion): z.ZodType {
  const field: FieldDefinition = FIELDS[name]
  const schema = outputSchema(field, version).meta(documentationOf(name, version))
  return field.required || field.default !== null ? schema : schema.nullable()
}
