import { refName, describeType } from '../schema-members.ts'

type Schema = Readonly<Record<string, unknown>>

/** A short description of a type, with a link to its schema. */
export function linkedType(schema: Schema): string {
  const { $ref, type, items } = schema
  if (typeof $ref === 'string') {
    const name = refName($ref)
    return `[${name}](types.md#${name.toLowerCase().replaceAll('.', '')})`
  }
  if (type === 'array' && typeof items === 'object' && items !== null) return `array of ${linkedType(items as Schema)}`
  return describeType(schema)
}
