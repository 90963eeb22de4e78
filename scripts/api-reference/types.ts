import { nameIn, typeOf } from '../schema-members.ts'

type Schema = Readonly<Record<string, unknown>>

/** What a value may be, with a link where its members stand among the types. */
export function shownType(schema: Schema): string {
  const { $ref, type, items } = schema
  if (typeof $ref === 'string') {
    const name = nameIn($ref)
    return `[${name}](types.md#${name.toLowerCase().replaceAll('.', '')})`
  }
  if (type === 'array' && typeof items === 'object' && items !== null) return `list of ${shownType(items as Schema)}`
  return typeOf(schema)
}
