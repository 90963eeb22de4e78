import { z } from 'zod'
import type { Endpoint } from './endpoint.ts'

/** The number of something, as a segment of a path: text that its endpoint reads, described as the integer that it has to be. */
export const numberInPath = (about: string) => z.string().describe(about).meta({ type: 'integer', minimum: 1 })

/** A path, and what stands in it for the parameters that are an enum. */
export type WrittenOut = { readonly path: string; readonly fixed: Readonly<Record<string, string>> }

/** A path for each value of those parameters that are an enum: `/{version}/diamond` is `/v3/diamond` and `/v4/diamond`. */
export function writtenOut(path: string, { parameters }: Pick<Endpoint, 'parameters'>): WrittenOut[] {
  let ways: WrittenOut[] = [{ path, fixed: {} }]
  for (const [name, schema] of Object.entries(parameters)) {
    const values: unknown = 'options' in schema ? schema.options : undefined
    if (!Array.isArray(values)) continue
    ways = ways.flatMap((way) =>
      values.map(String).map((value) => ({
        path: way.path.replace(`{${name}}`, value),
        fixed: { ...way.fixed, [name]: value },
      })),
    )
  }
  return ways
}
