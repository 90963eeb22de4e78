import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'
import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import { STATUSES_OF_ANY_REQUEST, declaredStatuses, schemaFor } from '../../../src/http/openapi/operation.ts'
import { routeFinder, type FoundRoute } from '../../http/route-finder.ts'
import { saw } from './seen-answers.ts'

/** Holds that a body has what its endpoint declares of that answer, and nothing else. */
export function isAsDeclared(
  { operationId, responses }: Pick<Endpoint, 'operationId' | 'responses'>,
  status: number,
  body: unknown,
): void {
  const answer = responses[status]
  const schema = typeof answer === 'object' ? answer.schema : undefined
  if (!(schema instanceof z.ZodType)) throw new Error(`${operationId} declares no schema for ${status}`)
  // What the schema does not name it takes away.
  assert.equal(schema.parse(body), body, operationId)
}

const findRoute = routeFinder(ENDPOINTS)

type AnsweredText = { readonly status: number; readonly text: string; readonly headers: IncomingHttpHeaders }

/** Holds an answer to what is declared: its status, and where that has a schema, its body. */
export function isDeclaredAnswer(method: string, target: string, { status, text, headers }: AnsweredText): void {
  // Not every server has every endpoint: the port of metrics has one.
  if (status === 404 && text.includes('Not found: /')) return
  const [path = ''] = target.split('?', 1)
  const found = findRoute(method, path)
  if (found === undefined) return
  const isDeclared = STATUSES_OF_ANY_REQUEST.includes(status) || declaredStatuses(found.endpoint).has(status)
  assert.ok(
    isDeclared,
    `${found.endpoint.operationId} answered ${method} ${path} with ${status}, which it does not declare`,
  )
  saw(found.endpoint.operationId, status)
  isOfDeclaredType(found.endpoint, status, headers['content-type'])
  // The same may be there as a page for people.
  const isJson = headers['content-type']?.startsWith('application/json') === true
  if (method !== 'HEAD' && isJson) hasDeclaredBody(found, status, text)
}

/** An answer that declares its media types has one of them, whatever its parameters are; no body has none. */
function isOfDeclaredType({ operationId, responses }: Endpoint, status: number, type: string | undefined): void {
  const answer = responses[status]
  const media = typeof answer === 'object' ? answer.mediaType : undefined
  if (media === undefined || type === undefined) return
  const [bare] = type.split(';', 1)
  const declared = [media].flat().map((one) => one.split(';', 1)[0])
  assert.ok(declared.includes(bare), `${operationId} answered ${status} as ${type}, which it does not declare`)
}

function hasDeclaredBody({ endpoint, version }: FoundRoute<never>, status: number, text: string): void {
  const schema = schemaOf(endpoint, status, version)
  if (schema === undefined) return
  const body: unknown = JSON.parse(text)
  const { data, error } = schema.safeParse(body)
  const what = `${endpoint.operationId} answered ${status} with ${text.slice(0, 500)}`
  assert.is(error, undefined, `${what}: ${error?.message ?? ''}`)
  assert.ok(isDeepStrictEqual(data, body), `${what}, which has more than it declares`)
}

/** Of an answer, or of how the endpoint's family refuses; undefined where it is not JSON. */
function schemaOf({ responses, group }: Endpoint, status: number, version: string | undefined): z.ZodType | undefined {
  const said = responses[status]
  if (typeof said === 'object' && said.schema !== undefined) return schemaFor(said.schema, version)
  return status >= 400 ? group.errorFormat.schema : undefined
}
