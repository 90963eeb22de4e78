import type { JsonSchema } from '../src/events/catalogue.ts'

/** A member of an object schema. Nested members have a path as their name: `set.carat`, `changes[].stream`. */
export type Member = {
  readonly name: string
  readonly type: string
  readonly about: string
}

/** The members of an object schema, in order, each followed by its nested members. */
export function membersOf(schema: JsonSchema, path = ''): Member[] {
  const required = listOf(schema['required'])
  return Object.entries(objectOf(schema['properties'])).flatMap(([name, found]) => {
    const member = objectOf(found)
    const optional = required.includes(name) ? '' : ', optional'
    const line = { name: `${path}${name}`, type: `${typeOf(member)}${optional}`, about: aboutOf(member) }
    return [line, ...partsOf(member).flatMap((part) => below(part, line.name))]
  })
}

/** The alternatives of a schema with `anyOf`, else the schema itself. */
function partsOf(schema: JsonSchema): JsonSchema[] {
  const { anyOf } = schema
  return Array.isArray(anyOf) ? anyOf.map(objectOf) : [schema]
}

function below(schema: JsonSchema, name: string): Member[] {
  if (schema['type'] === 'array') return partsOf(objectOf(schema['items'])).flatMap((item) => below(item, `${name}[]`))
  return membersOf(schema, `${name}.`)
}

/** A short description of the type, for a table cell. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, anyOf, enum: values, const: value, type, items } = schema
  if (typeof $ref === 'string') return nameIn($ref)
  if (Array.isArray(anyOf)) return anyOf.map((part) => typeOf(objectOf(part))).join(' or ')
  if (Array.isArray(values)) return values.map(String).join(', ')
  if (value !== undefined) return String(value)
  if (type === 'array') return `array of ${typeOf(objectOf(items))}`
  return `${listOf(type).map(wordOf).join(' or ')}${boundOf(schema)}`
}

export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

const WORDS: Readonly<Record<string, string>> = { string: 'string', boolean: 'boolean', object: 'object' }
const wordOf = (type: string) => WORDS[type] ?? type

function boundOf({ minimum, exclusiveMinimum }: JsonSchema): string {
  if (minimum !== undefined) return ` ≥ ${String(minimum)}`
  return exclusiveMinimum === undefined ? '' : ` > ${String(exclusiveMinimum)}`
}

/** The description of a schema and of its alternatives: that of a nullable member is on its non-null alternative. */
const aboutOf = (schema: JsonSchema): string =>
  [...new Set([schema, ...partsOf(schema)].map(({ description }) => description))]
    .filter((text) => typeof text === 'string')
    .join('; ')

const objectOf = (value: unknown) => (typeof value === 'object' && value !== null ? value : {}) as JsonSchema
const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : value === undefined ? [] : [String(value)]
