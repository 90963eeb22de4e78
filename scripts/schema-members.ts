import type { JsonSchema } from '../src/events/catalogue.ts'

/** One member of an object; those of objects and lists in it stand below it, as `set.carat` and `changes[].stream`. */
export type Member = {
  readonly name: string
  readonly type: string
  readonly about: string
}

/** The members of an object, in its order, each with those below it. */
export function membersOf(schema: JsonSchema, path = ''): Member[] {
  const required = listOf(schema['required'])
  return Object.entries(objectOf(schema['properties'])).flatMap(([name, found]) => {
    const member = objectOf(found)
    const optional = required.includes(name) ? '' : ', may be absent'
    const line = { name: `${path}${name}`, type: `${typeOf(member)}${optional}`, about: aboutOf(member) }
    return [line, ...partsOf(member).flatMap((part) => below(part, line.name))]
  })
}

/** A schema itself, or those that it is one of. */
function partsOf(schema: JsonSchema): JsonSchema[] {
  const { anyOf } = schema
  return Array.isArray(anyOf) ? anyOf.map(objectOf) : [schema]
}

function below(schema: JsonSchema, name: string): Member[] {
  if (schema['type'] === 'array') return partsOf(objectOf(schema['items'])).flatMap((item) => below(item, `${name}[]`))
  return membersOf(schema, `${name}.`)
}

/** What a value may be, in words. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, anyOf, enum: values, const: value, type, items } = schema
  if (typeof $ref === 'string') return nameIn($ref)
  if (Array.isArray(anyOf)) return anyOf.map((part) => typeOf(objectOf(part))).join(' or ')
  if (Array.isArray(values)) return values.map(String).join(', ')
  if (value !== undefined) return String(value)
  if (type === 'array') return `list of ${typeOf(objectOf(items))}`
  return `${listOf(type).map(wordOf).join(' or ')}${boundOf(schema)}`
}

/** The name of a schema that stands elsewhere. */
export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

const WORDS: Readonly<Record<string, string>> = { string: 'text', boolean: 'true or false', object: 'object' }
const wordOf = (type: string) => WORDS[type] ?? type

function boundOf({ minimum, exclusiveMinimum }: JsonSchema): string {
  if (minimum !== undefined) return ` from ${String(minimum)}`
  return exclusiveMinimum === undefined ? '' : ` over ${String(exclusiveMinimum)}`
}

/** What is said about it; where it may be null, it is said about what it is otherwise. */
const aboutOf = (schema: JsonSchema): string =>
  [...new Set([schema, ...partsOf(schema)].map(({ description }) => description))]
    .filter((text) => typeof text === 'string')
    .join('; ')

const objectOf = (value: unknown) => (typeof value === 'object' && value !== null ? value : {}) as JsonSchema
const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : value === undefined ? [] : [String(value)]
