import { z, type ZodType } from 'zod'
import type { Schema } from '../kit/endpoint.ts'

/** A JSON Schema (2020-12), as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Where a description keeps what has a name. */
const COMPONENTS = '#/components/schemas/'

/**
 * The schemas of one description. Those with an id of their own (`meta({ id })`) stand once, among the components, and
 * are referred to from everywhere else.
 */
export class Schemas {
  readonly #named = new Map<string, JsonSchema>()

  /** By their ids, sorted. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#named].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** @param io whether it is read (what may be left out, may) or sent */
  of(schema: ZodType, io: 'input' | 'output'): JsonSchema {
    const {
      $schema: _,
      $defs = {},
      ...own
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: keepExamples,
    })
    for (const [name, named] of Object.entries($defs)) this.#named.set(name, withoutId(referring(named)))
    const { id } = own
    if (id === undefined) return referring(own)
    this.#named.set(id, withoutId(referring(own)))
    return { $ref: `${COMPONENTS}${id}` }
  }
}

/** The schema of one API version, where they differ. */
export const schemaFor = (schema: Schema, version: string | undefined): ZodType =>
  schema instanceof z.ZodType ? schema : schema[version === 'v3' ? 'v3' : 'v4']

function withoutId(schema: JsonSchema): JsonSchema {
  const { id: _, ...rest } = schema
  return rest
}

/** The same, with references to components in place of those to definitions beside it. */
function referring(schema: object): JsonSchema {
  const text = JSON.stringify(schema, (_key, value: unknown) => value)
  return JSON.parse(text.replaceAll('"#/$defs/', `"${COMPONENTS}`)) as JsonSchema
}

/**
 * zod leaves out the examples and the default of a schema that transforms, since they could be of its output. Ours are as
 * they are sent.
 */
function keepExamples({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  const { examples } = z.globalRegistry.get(zodSchema) ?? {}
  const { def } = zodSchema._zod
  const unset = def.type === 'default' ? def.defaultValue : undefined
  Object.assign(jsonSchema, examples && { examples }, unset !== undefined && { default: unset })
}
