import type { JsonSchema } from '../src/events/catalogue.ts'

/** A member of an object schema. Nested members have a path as their name: `set.carat`, `changes[].stream`. */
export type SchemaMember = {
  readonly name: string
  readonly type: string
  readonly description: string
}

/** The members of an object schema, in order, each followed by its nested members. */
export function membersOf(schema: JsonSchema, path = ''): SchemaMember[] {
  const required = listOf(schema['required'])
  return Object.entries(objectOf(schema['properties'])).flatMap(([name, value]) => {
    const member = objectOf(value)
    const optional = required.includes(name) ? '' : ', optional'
    const described = {
      name: `${path}${name}`,
      type: `${describeType(member)}${optional}`,
      description: describeSchema(member),
    }
    return [described, ...alternativesOf(member).flatMap((part) => nestedMembers(part, described.name))]
  })
}

/** The alternatives of a schema with `anyOf`, else the schema itself. */
function alternativesOf(schema: JsonSchema): JsonSchema[] {
  const { anyOf } = schema
  return Array.isArray(anyOf) ? anyOf.map(objectOf) : [schema]
}

function nestedMembers(schema: JsonSchema, name: string): SchemaMember[] {
  if (schema['type'] === 'array')
    return alternativesOf(objectOf(schema['items'])).flatMap((item) => nestedMembers(item, `${name}[]`))
  return membersOf(schema, `${name}.`)
}

/** A short description of the type, for a table cell. */
export function describeType(schema: JsonSchema): string {
  const { $ref, anyOf, enum: values, const: value, type, items } = schema
  if (typeof $ref === 'string') return refName($ref)
  if (Array.isArray(anyOf)) return anyOf.map((part) => describeType(objectOf(part))).join(' or ')
  if (Array.isArray(values)) return values.map(String).join(', ')
  if (value !== undefined) return String(value)
  if (type === 'array') return `array of ${describeType(objectOf(items))}`
  return `${listOf(type).map(typeWord).join(' or ')}${describeLimits(schema)}${defaultText(schema)}`
}

export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

const TYPE_WORDS: Readonly<Record<string, string>> = { string: 'string', boolean: 'boolean', object: 'object' }
const typeWord = (type: string) => TYPE_WORDS[type] ?? type

/** Limits, without that of the integers that JSON can hold. */
function describeLimits({ minimum, exclusiveMinimum, maximum, maxLength }: JsonSchema): string {
  if (maxLength !== undefined) return ` of at most ${String(maxLength)} characters`
  const hasMaximum = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER
  if (minimum !== undefined && hasMaximum) return ` ${String(minimum)} to ${String(maximum)}`
  const limits = [
    minimum === undefined ? '' : ` ≥ ${String(minimum)}`,
    exclusiveMinimum === undefined ? '' : ` > ${String(exclusiveMinimum)}`,
    hasMaximum ? ` ≤ ${String(maximum)}` : '',
  ]
  return limits.filter(Boolean).join(',')
}

const defaultText = ({ default: value }: JsonSchema) =>
  value === undefined || value === '' ? '' : `, default ${JSON.stringify(value)}`

/** The description of a schema and of its alternatives: that of a nullable member is on its non-null alternative. */
const describeSchema = (schema: JsonSchema): string =>
  [...new Set([schema, ...alternativesOf(schema)].map(({ description }) => description))]
    .filter((text) => typeof text === 'string')
    .join('; ')

const objectOf = (value: unknown) => (typeof value === 'object' && value !== null ? value : {}) as JsonSchema
const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : value === undefined ? [] : [String(value)]
