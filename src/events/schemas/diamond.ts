import { z } from 'zod'
import type { Field } from '../../domain/diamond/field.ts'
import {
  FIELD_NAMES,
  FIELDS,
  REQUIRED,
  type DiamondFields,
  type FieldName,
  type RequiredField,
} from '../../domain/diamond/fields.ts'
import { MODEL_FORMATS } from '../../domain/diamond/stone-model.ts'
import { isTextMember, SCORES, type Scores } from '../../domain/diamond/scores.ts'
import { isShapeId } from '../../domain/dictionaries/shapes.ts'
import { digest } from './certification.ts'
import { first } from './event-schema.ts'

const id = z.int().min(1).describe('id of the diamond')

/** An id that this release's dictionary lacks is a newer release's: nothing here could show or score the stone. */
const shape = z.int().refine(isShapeId, "this release's dictionary of cut shapes has no such id")
/** Seconds in which years have four digits, as bodies show them. */
const CALENDAR = { first: -62_167_219_200, last: 253_402_300_799 } as const

const level = z.union([z.literal(0), z.literal(1), z.literal(2)]).describe('from 0, the least that others may see')

/** A field's value as events hold it, by the field's kind. */
function schemaOf(field: Field): z.ZodType {
  switch (field.kind) {
    case 'text':
      return z.string()
    case 'amount':
      return z.number()
    case 'flag':
      return z.boolean()
    case 'shape':
      return z.union([shape, z.string()]).describe('id of the tree of cut shapes, or a text that it does not know')
    case 'entry': {
      const { name, has } = field.dictionary
      return z
        .int()
        .refine(has, `this release's dictionary ${name} has no such id`)
        .describe(`id of the dictionary ${name}`)
    }
    case 'scale':
      return z.string()
    case 'level':
      return level
  }
}

const isNullable = ({ required, default: unset }: Field) => !required && unset === null

type FieldSchemas = { readonly [Name in FieldName]: z.ZodType<DiamondFields[Name]> }

const fields = z.object(
  Object.fromEntries(
    FIELD_NAMES.map((name) => {
      const schema = schemaOf(FIELDS[name])
      return [name, isNullable(FIELDS[name]) ? schema.nullable() : schema]
    }),
  ) as unknown as FieldSchemas,
)

/** What every diamond has, as zod wants it named. */
const REQUIRED_MASK = Object.fromEntries(REQUIRED.map((name) => [name, true])) as Record<RequiredField, true>

const score = (members: readonly string[]) =>
  z.object(Object.fromEntries(members.map((name) => [name, isTextMember(name) ? z.string() : z.number()])))

type ScoreSchemas = { readonly [Name in keyof Scores]: z.ZodType<Scores[Name]> }

const scores = z.object(
  Object.fromEntries(
    Object.entries(SCORES).map(([name, members]) => [name, score(members).nullable()]),
  ) as unknown as ScoreSchemas,
)

const millimetres = z.number().positive()

const stoneModel = z.object({
  format: z.enum(MODEL_FORMATS),
  facets: z.int().min(1).describe('as the file has them'),
  planes: z
    .object({ count: z.int().min(1), within: z.number().positive() })
    .describe('how many light is traced from, and within how many degrees neighbouring facets were taken for one'),
  carat: z.number().positive().describe('by its volume'),
  measurements: z.object({ length: millimetres, width: millimetres, depth: millimetres }).describe('millimetres'),
  file: z.object({ digest, bytes: z.int().min(1) }),
})

export const diamondSchemas = {
  DiamondCreated: first(
    z.object({
      id,
      owner: z.int().min(1).describe('id of the account'),
      date: z.int().min(CALENDAR.first).max(CALENDAR.last).describe('seconds since 1970, UTC, in the years 0 to 9999'),
      set: fields.partial().required(REQUIRED_MASK),
    }),
  ),
  DiamondPatched: first(
    z.object({
      set: fields.partial(),
      removed: z.array(fields.omit(REQUIRED_MASK).keyof()).describe('fields that go back to their defaults'),
    }),
  ),
  StoneModelAttached: first(stoneModel),
  StoneModelRemoved: first(z.object({ digest })),
  DiamondDeleted: first(z.object({})),
  DiamondScored: first(
    z.object({
      id,
      revision: z.int().min(0).describe('of the diamond: the event after which they were computed'),
      scores,
    }),
  ),
}
