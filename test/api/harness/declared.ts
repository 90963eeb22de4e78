import * as assert from 'uvu/assert'
import { z } from 'zod'
import type { Endpoint } from '../../../src/http/kit/endpoint.ts'

/** Holds that a body has what its endpoint declares of that answer, and nothing else. */
export function isAsDeclared(
  { name, answers }: Pick<Endpoint, 'name' | 'answers'>,
  status: number,
  body: unknown,
): void {
  const answer = answers[status]
  const schema = typeof answer === 'object' ? answer.schema : undefined
  if (!(schema instanceof z.ZodType)) throw new Error(`${name} declares no schema for ${status}`)
  // What the schema does not name it takes away.
  assert.equal(schema.parse(body), body, name)
}
