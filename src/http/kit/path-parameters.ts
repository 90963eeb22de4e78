import { z } from 'zod'
import { parseId } from '../../domain/entity-id.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { Endpoint } from './endpoint.ts'

/** A positive integer in a path, documented as an integer. The endpoint receives and validates the text. */
export const integerPathParameter = (description: string) =>
  z.string().describe(description).meta({ type: 'integer', minimum: 1 })

/** @throws RequestError missing if the path parameter is not an id */
export function requireId(entity: string, text: string): number {
  const id = parseId(text)
  if (id === undefined) throw new RequestError('missing', `There is no ${entity} ${text.slice(0, 40)}`)
  return id
}

export type ExpandedPath = { readonly path: string; readonly fixedParams: Readonly<Record<string, string>> }

/** Expands enum parameters: `/{version}/diamond` becomes `/v3/diamond` and `/v4/diamond`. */
export function expandPath(path: string, { pathParameters }: Pick<Endpoint, 'pathParameters'>): ExpandedPath[] {
  let expanded: ExpandedPath[] = [{ path, fixedParams: {} }]
  for (const [name, schema] of Object.entries(pathParameters)) {
    const values: unknown = 'options' in schema ? schema.options : undefined
    if (!Array.isArray(values)) continue
    expanded = expanded.flatMap((partial) =>
      values.map(String).map((value) => ({
        path: partial.path.replace(`{${name}}`, value),
        fixedParams: { ...partial.fixedParams, [name]: value },
      })),
    )
  }
  return expanded
}
