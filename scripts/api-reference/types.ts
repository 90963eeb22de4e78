import { nameIn, typeOf } from '../schema-members.ts'

type Schema = Readonly<Record<string, unknown>>

/** A short description of a type, with a link to its schema. */
export function shownType(schema: Schema): string {
  const { $ref, type, items } = schema
  if (typeof $ref === 'string') {
    const name = nameIn($ref)
    return `[${name}](types.md#${name.toLowerCase().replaceAll('.', '')})`
  }
  if (type === 'array' && typeof items === 'object' && items !== null) return `array of ${shownType(items as Schema)}`
  return typeOf(schema)
}
