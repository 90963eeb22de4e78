import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import { STATUSES_OF_ANY_REQUEST, declaredStatuses } from '../../../src/http/openapi/operation.ts'

/** Where the runner has each process of tests write what it saw answered; unset where few files are run. */
export const SEEN_ANSWERS = 'SEEN_ANSWERS'

const seen = new Set<string>()

const answer = (endpoint: string, status: number) => `${endpoint} ${status}`

/** Puts on record that a test saw an endpoint answer so. */
export function saw(endpoint: string, status: number): void {
  const folder = process.env[SEEN_ANSWERS]
  if (folder === undefined) return
  if (seen.size === 0) {
    process.once('exit', () => appendFileSync(join(folder, String(process.pid)), `${[...seen].join('\n')}\n`))
  }
  seen.add(answer(endpoint, status))
}

/** What all processes of tests saw. */
export function answersSeen(folder: string): Set<string> {
  return new Set(readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')))
}

/**
 * Which documented statuses no test saw: of each endpoint those that it declares itself, of each kind of asker those that it
 * refuses with, and of bodies and of any request those that follow from how they are read, somewhere.
 */
export function unseenAnswers(endpoints: readonly Endpoint[], seenAnswers: ReadonlySet<string>): string[] {
  const sawOf = (some: readonly Endpoint[], status: number) =>
    some.some(({ operationId }) => seenAnswers.has(answer(operationId, status)))
  const own = endpoints.flatMap((endpoint) =>
    Object.keys(endpoint.responses)
      .map(Number)
      .filter((status) => !sawOf([endpoint], status))
      .map((status) => answer(endpoint.operationId, status)),
  )
  const askers = new Set(endpoints.map(({ auth }) => auth))
  const ofAskers = [...askers].flatMap((who) => {
    const theirs = endpoints.filter((endpoint) => endpoint.auth === who)
    const names = `one of ${theirs.map(({ operationId }) => operationId).join(', ')}`
    return who.errorStatuses.filter((status) => !sawOf(theirs, status)).map((status) => `${names}: ${status}`)
  })
  const withBody = endpoints.filter(({ body }) => body !== undefined)
  const anywhere = new Set([
    ...STATUSES_OF_ANY_REQUEST,
    ...withBody.flatMap((endpoint) => [...declaredStatuses(endpoint)]),
  ])
  const ofAny = [...anywhere]
    .filter((status) => ![...seenAnswers].some((one) => one.endsWith(` ${status}`)))
    .map((status) => `any endpoint: ${status}`)
  return [...own, ...ofAskers, ...ofAny]
}
