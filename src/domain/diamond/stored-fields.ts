import { z } from 'zod'
import { isShapeId } from '../dictionaries/shapes.ts'
import type { FieldDefinition } from './field.ts'
import {
  FIELD_NAMES,
  FIELDS,
  REQUIRED_FIELDS,
  type DiamondFields,
  type FieldName,
  type RequiredField,
} from './fields.ts'

/** Rejects ids that this release's dictionary lacks: they come from a newer release, and the stone could not be shown or scored. */
const shape = z.int().refine(isShapeId, "this release's dictionary of cut shapes has no such id")
const level = z.union([z.literal(0), z.literal(1), z.literal(2)]).describe('0 (others see least) to 2')

function schemaOf(field: FieldDefinition): z.ZodType {
  switch (field.kind) {
    case 'text':
      return z.string()
    case 'amount':
      return z.number()
    case 'flag':
      return z.boolean()
    case 'shape':
      return z.union([shape, z.string()]).describe('id in the tree of cut shapes, or a text that is not in it')
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

const isNullable = ({ required, default: unset }: FieldDefinition) => !required && unset === null

type FieldSchemas = { readonly [Name in FieldName]: z.ZodType<DiamondFields[Name]> }

/** The schema of a diamond's fields in events. */
export const storedFieldsSchema = z.object(
  Object.fromEntries(
    FIELD_NAMES.map((name) => {
      const schema = schemaOf(FIELDS[name])
      return [name, isNullable(FIELDS[name]) ? schema.nullable() : schema]
    }),
  ) as unknown as FieldSchemas,
)

export const REQUIRED_MASK = Object.fromEntries(REQUIRED_FIELDS.map((name) => [name, true])) as Record<
  RequiredField,
  true
>
