import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { expect } from '../api/harness/request.ts'
import { list, shown, stone } from '../api/harness/stones.ts'
import { pace } from '../pace.ts'
import { until } from '../until.ts'

/** A request to create stones. With an idempotency key it can be repeated. */
export type Wish = { readonly skus: readonly string[]; readonly key: string | undefined }

/** The results of clients' requests. */
export type Asked = {
  /** The ids of acknowledged stones, by sku. */
  readonly acknowledged: Map<string, number>
  /** Requests that got a 503 or no response, so that they may have been executed. */
  readonly open: Wish[]
  /** Number of responses 503. */
  refused: number
  /** Why requests got no response. */
  readonly broken: Error[]
}

export const nothingAsked = (): Asked => ({ acknowledged: new Map(), open: [], refused: 0, broken: [] })

const BULK = 12

/** Milliseconds between a 503 and the next request, much less than Retry-After. */
const PAUSE = 100

/** Every other request has an idempotency key, and two of five are bulks. */
function wishOf(name: string, number: number): Wish {
  const count = number % 5 < 3 ? 1 : BULK
  return {
    skus: Array.from({ length: count }, (_, index) => `${name}-${number}/${index}`),
    key: number % 2 === 0 ? `${name}-${number}` : undefined,
  }
}

/** A client that creates single stones and bulks until `isOver` returns true or the service does not respond. */
export async function wishOn(ann: Vendor, name: string, asked: Asked, isOver: () => boolean): Promise<void> {
  for (let number = 0; !isOver(); number++) {
    const wish = wishOf(name, number)
    try {
      if (await isGranted(ann, wish, asked)) continue
    } catch (error) {
      if (error instanceof assert.Assertion || !(error instanceof Error)) throw error
      asked.open.push(wish)
      asked.broken.push(error)
      return
    }
    asked.open.push(wish)
    await pace(PAUSE)
  }
}

/** Repeats the open requests with an idempotency key until they succeed. Those without one stay open. */
export async function repeatOpen(ann: Vendor, asked: Asked): Promise<void> {
  for (const wish of asked.open.splice(0)) {
    if (wish.key === undefined) asked.open.push(wish)
    else await until(`request ${wish.key} to succeed`, () => isGranted(ann, wish, asked))
  }
}

/** Asserts that the response is a success or a 503 with Retry-After. @returns whether it is a success */
async function isGranted(ann: Vendor, { skus, key }: Wish, asked: Asked): Promise<boolean> {
  const headers = { ...(key !== undefined && { 'Idempotency-Key': key }) }
  const entries = skus.map((sku) => stone({ sku }))
  const isBulk = entries.length > 1
  const answer = await (isBulk
    ? ann.post('/v4/diamond/bulk', { entries }, headers)
    : ann.post('/v4/diamond', entries[0], headers))
  if (answer.status === 503) {
    assert.ok(Number(answer.headers['retry-after']) > 0, answer.text)
    asked.refused++
    return false
  }
  const created = isBulk ? list(expect(201, answer)) : [shown(expect(201, answer))]
  for (const { sku, id } of created) {
    assert.ok(!asked.acknowledged.has(sku) || asked.acknowledged.get(sku) === id, `${sku} has two ids`)
    asked.acknowledged.set(sku, id)
  }
  return true
}
