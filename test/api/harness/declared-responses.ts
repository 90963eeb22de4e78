import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'
import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import { STATUSES_OF_ANY_REQUEST, declaredStatuses, schemaFor } from '../../../src/http/openapi/operation.ts'
import { routeFinder, type FoundRoute } from '../../http/route-finder.ts'
import { recordResponse } from './seen-responses.ts'

/** Expects that a body matches the declared schema and has no other members. */
export function expectDeclaredBody(
  { operationId, responses }: Pick<Endpoint, 'operationId' | 'responses'>,
  status: number,
  body: unknown,
): void {
  const response = responses[status]
  const schema = typeof response === 'object' ? response.schema : undefined
  if (!(schema instanceof z.ZodType)) throw new Error(`${operationId} declares no schema for ${status}`)
  // The schema strips unknown members.
  assert.equal(schema.parse(body), body, operationId)
}

const findRoute = routeFinder(ENDPOINTS)

type TextResponse = { readonly status: number; readonly text: string; readonly headers: IncomingHttpHeaders }

/** Expects that the endpoint declares the status of a response and, if it has a schema, that the body matches it. */
export function expectDeclaredResponse(method: string, target: string, { status, text, headers }: TextResponse): void {
  // Not every server has every endpoint: the metrics port has one.
  if (status === 404 && text.includes('Not found: /')) return
  const [path = ''] = target.split('?', 1)
  const found = findRoute(method, path)
  if (found === undefined) return
  const isDeclared = STATUSES_OF_ANY_REQUEST.includes(status) || declaredStatuses(found.endpoint).has(status)
  assert.ok(
    isDeclared,
    `${found.endpoint.operationId} answered ${method} ${path} with ${status}, which it does not declare`,
  )
  recordResponse(found.endpoint.operationId, status)
  expectDeclaredMediaType(found.endpoint, status, headers['content-type'])
  // The same status may also be an HTML page.
  const isJson = headers['content-type']?.startsWith('application/json') === true
  if (method !== 'HEAD' && isJson) expectDeclaredJson(found, status, text)
}

/** Expects one of the declared media types, ignoring parameters. A response without a body has none. */
function expectDeclaredMediaType({ operationId, responses }: Endpoint, status: number, type: string | undefined): void {
  const response = responses[status]
  const media = typeof response === 'object' ? response.mediaType : undefined
  if (media === undefined || type === undefined) return
  const [bare] = type.split(';', 1)
  const declared = [media].flat().map((one) => one.split(';', 1)[0])
  assert.ok(declared.includes(bare), `${operationId} answered ${status} as ${type}, which it does not declare`)
}

function expectDeclaredJson({ endpoint, version }: FoundRoute<never>, status: number, text: string): void {
  const schema = schemaOf(endpoint, status, version)
  if (schema === undefined) return
  const body: unknown = JSON.parse(text)
  const { data, error } = schema.safeParse(body)
  const summary = `${endpoint.operationId} answered ${status} with ${text.slice(0, 500)}`
  assert.is(error, undefined, `${summary}: ${error?.message ?? ''}`)
  assert.ok(isDeepStrictEqual(data, body), `${summary}, which has more than it declares`)
}

/** The schema of a response, or of the error format of the group; undefined if it is not JSON. */
function schemaOf({ responses, group }: Endpoint, status: number, version: string | undefined): z.ZodType | undefined {
  const response = responses[status]
  if (typeof response === 'object' && response.schema !== undefined) return schemaFor(response.schema, version)
  return status >= 400 ? group.errorFormat.schema : undefined
}
