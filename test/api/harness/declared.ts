import * as assert from 'uvu/assert'
import { z } from 'zod'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'
import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import { Routes } from '../../../src/http/kit/routes.ts'

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

const routes = new Routes(ENDPOINTS)

type AnsweredText = { readonly status: number; readonly text: string }

/** What any request may be answered: it is no HTTP, its headers are too long, or a store is away. */
const ANY: readonly number[] = [431, 503]

/** What a body may be refused with. */
const OF_BODIES: readonly number[] = [400, 408, 413, 415, 422]

/** Statuses that follow from what is declared: by the endpoint, by who may ask it, and by how its body is read. */
export const declaredStatuses = ({ answers, who, body }: Pick<Endpoint, 'answers' | 'who' | 'body'>): Set<number> =>
  new Set([...Object.keys(answers).map(Number), ...who.refuses, ...(body === undefined ? [] : OF_BODIES)])

/** Holds an answer to the statuses that are declared. */
export function isDeclaredStatus(method: string, target: string, { status, text }: AnsweredText): void {
  // Not every server has every endpoint: the port of metrics has one.
  if (status === 404 && text.includes('There is nothing at')) return
  const [path = ''] = target.split('?', 1)
  const found = routes.find(method, path)
  if (found === undefined || !('endpoint' in found)) return
  const isDeclared = ANY.includes(status) || declaredStatuses(found.endpoint).has(status)
  assert.ok(isDeclared, `${found.endpoint.name} answered ${method} ${path} with ${status}, which it does not declare`)
}
