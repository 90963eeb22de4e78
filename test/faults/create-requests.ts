import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { expect } from '../api/harness/request.ts'
import { list, shown, stone } from '../api/harness/stones.ts'
import { pace } from '../pace.ts'
import { until } from '../until.ts'

/** A request to create stones. With an idempotency key it can be repeated. */
export type CreateRequest = { readonly skus: readonly string[]; readonly key: string | undefined }

/** The results of clients' requests. */
export type CreateResults = {
  /** The ids of acknowledged stones, by sku. */
  readonly acknowledged: Map<string, number>
  /** Requests that got a 503 or no response, so that they may have been executed. */
  readonly open: CreateRequest[]
  /** Number of responses 503. */
  unavailableResponses: number
  /** Why requests got no response. */
  readonly connectionErrors: Error[]
}

export const newCreateResults = (): CreateResults => ({
  acknowledged: new Map(),
  open: [],
  unavailableResponses: 0,
  connectionErrors: [],
})

const BULK = 12

/** Milliseconds between a 503 and the next request, much less than Retry-After. */
const PAUSE = 100

/** Every other request has an idempotency key, and two of five are bulks. */
function createRequestOf(name: string, number: number): CreateRequest {
  const count = number % 5 < 3 ? 1 : BULK
  return {
    skus: Array.from({ length: count }, (_, index) => `${name}-${number}/${index}`),
    key: number % 2 === 0 ? `${name}-${number}` : undefined,
  }
}

/** A client that creates single stones and bulks until `isOver` returns true or the service does not respond. */
export async function createUntil(
  ann: Vendor,
  name: string,
  results: CreateResults,
  isOver: () => boolean,
): Promise<void> {
  for (let number = 0; !isOver(); number++) {
    const request = createRequestOf(name, number)
    try {
      if (await isCreated(ann, request, results)) continue
    } catch (error) {
      if (error instanceof assert.Assertion || !(error instanceof Error)) throw error
      results.open.push(request)
      results.connectionErrors.push(error)
      return
    }
    results.open.push(request)
    await pace(PAUSE)
  }
}

/** Repeats the open requests with an idempotency key until they succeed. Those without one stay open. */
export async function repeatOpen(ann: Vendor, results: CreateResults): Promise<void> {
  for (const request of results.open.splice(0)) {
    if (request.key === undefined) results.open.push(request)
    else await until(`request ${request.key} to succeed`, () => isCreated(ann, request, results))
  }
}

/** Asserts that the response is a success or a 503 with Retry-After. @returns whether it is a success */
async function isCreated(ann: Vendor, { skus, key }: CreateRequest, results: CreateResults): Promise<boolean> {
  const headers = { ...(key !== undefined && { 'Idempotency-Key': key }) }
  const entries = skus.map((sku) => stone({ sku }))
  const isBulk = entries.length > 1
  const response = await (isBulk
    ? ann.post('/v4/diamond/bulk', { entries }, headers)
    : ann.post('/v4/diamond', entries[0], headers))
  if (response.status === 503) {
    assert.ok(Number(response.headers['retry-after']) > 0, response.text)
    results.unavailableResponses++
    return false
  }
  const created = isBulk ? list(expect(201, response)) : [shown(expect(201, response))]
  for (const { sku, id } of created) {
    assert.ok(!results.acknowledged.has(sku) || results.acknowledged.get(sku) === id, `${sku} has two ids`)
    results.acknowledged.set(sku, id)
  }
  return true
}
