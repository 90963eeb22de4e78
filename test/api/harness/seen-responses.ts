import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import { STATUSES_OF_ANY_REQUEST, declaredStatuses } from '../../../src/http/openapi/operation.ts'

/** Environment variable with the folder in which each test process records the responses it saw; unset if only some files run. */
export const SEEN_RESPONSES = 'SEEN_RESPONSES'

const seen = new Set<string>()

const responseKey = (endpoint: string, status: number) => `${endpoint} ${status}`

/** Records that a test saw this response of an endpoint. */
export function recordResponse(endpoint: string, status: number): void {
  const folder = process.env[SEEN_RESPONSES]
  if (folder === undefined) return
  if (seen.size === 0) {
    process.once('exit', () => appendFileSync(join(folder, String(process.pid)), `${[...seen].join('\n')}\n`))
  }
  seen.add(responseKey(endpoint, status))
}

/** The responses that all test processes saw. */
export function seenResponses(folder: string): Set<string> {
  return new Set(readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')))
}

/**
 * The documented statuses that no test saw: of each endpoint those that it declares itself, of each kind of authentication its errors,
 * and of request bodies and of any request the errors that any endpoint can return.
 */
export function unseenResponses(endpoints: readonly Endpoint[], seenKeys: ReadonlySet<string>): string[] {
  const isSeen = (declaring: readonly Endpoint[], status: number) =>
    declaring.some(({ operationId }) => seenKeys.has(responseKey(operationId, status)))
  const ofEndpoints = endpoints.flatMap((endpoint) =>
    Object.keys(endpoint.responses)
      .map(Number)
      .filter((status) => !isSeen([endpoint], status))
      .map((status) => responseKey(endpoint.operationId, status)),
  )
  const authentications = new Set(endpoints.map(({ auth }) => auth))
  const ofAuthentications = [...authentications].flatMap((authentication) => {
    const authenticated = endpoints.filter(({ auth }) => auth === authentication)
    const names = `one of ${authenticated.map(({ operationId }) => operationId).join(', ')}`
    return authentication.errorStatuses
      .filter((status) => !isSeen(authenticated, status))
      .map((status) => `${names}: ${status}`)
  })
  const withBody = endpoints.filter(({ body }) => body !== undefined)
  const common = new Set([
    ...STATUSES_OF_ANY_REQUEST,
    ...withBody.flatMap((endpoint) => [...declaredStatuses(endpoint)]),
  ])
  const ofAnyEndpoint = [...common]
    .filter((status) => ![...seenKeys].some((one) => one.endsWith(` ${status}`)))
    .map((status) => `any endpoint: ${status}`)
  return [...ofEndpoints, ...ofAuthentications, ...ofAnyEndpoint]
}
