import { z } from 'zod'
import type { Endpoint } from './endpoint.ts'

/** The number of something, as a segment of a path: text that its endpoint reads, described as the integer that it has to be. */
export const integerPathParameter = (about: string) => z.string().describe(about).meta({ type: 'integer', minimum: 1 })

/** A path, and what stands in it for the parameters that are an enum. */
export type ExpandedPath = { readonly path: string; readonly fixedParams: Readonly<Record<string, string>> }

/** A path for each value of those parameters that are an enum: `/{version}/diamond` is `/v3/diamond` and `/v4/diamond`. */
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
