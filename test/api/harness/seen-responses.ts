import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import { STATUSES_OF_ANY_REQUEST, declaredStatuses } from '../../../src/http/openapi/operation.ts'

/** Where the runner has each process of tests write what it saw answered; unset where few files are run. */
export const SEEN_RESPONSES = 'SEEN_RESPONSES'

const seen = new Set<string>()

const responseKey = (endpoint: string, status: number) => `${endpoint} ${status}`

/** Puts on record that a test saw an endpoint answer so. */
export function recordResponse(endpoint: string, status: number): void {
  const folder = process.env[SEEN_RESPONSES]
  if (folder === undefined) return
  if (seen.size === 0) {
    process.once('exit', () => appendFileSync(join(folder, String(process.pid)), `${[...seen].join('\n')}\n`))
  }
  seen.add(responseKey(endpoint, status))
}

/** What all processes of tests saw. */
export function seenResponses(folder: string): Set<string> {
  return new Set(readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')))
}

/**
 * Which documented statuses no test saw: of each endpoint those that it declares itself, of each kind of asker those that it
 * refuses with, and of bodies and of any request those that follow from how they are read, somewhere.
 */
export function unseenResponses(endpoints: readonly Endpoint[], seenKeys: ReadonlySet<string>): string[] {
  const isSeen = (some: readonly Endpoint[], status: number) =>
    some.some(({ operationId }) => seenKeys.has(responseKey(operationId, status)))
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
