import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { expect } from '../api/harness/request.ts'
import { list, shown, stone } from '../api/harness/stones.ts'
import { pace } from '../pace.ts'
import { until } from '../until.ts'

/** Stones that a client asks for in one request. With a key the same request can be sent again. */
export type Wish = { readonly skus: readonly string[]; readonly key: string | undefined }

/** What clients asked for, and what they were told. */
export type Asked = {
  /** The ids of acknowledged stones, by sku. */
  readonly acknowledged: Map<string, number>
  /** What was answered 503, or never: it may have been carried out. */
  readonly open: Wish[]
  /** Answers 503. */
  refused: number
  /** Why an answer never came. */
  readonly broken: Error[]
}

export const nothingAsked = (): Asked => ({ acknowledged: new Map(), open: [], refused: 0, broken: [] })

const BULK = 12

/** Milliseconds after a 503, much less than it says: a client that insists. */
const PAUSE = 100

/** Every other wish has a key, and two of five are bulks. */
function wishOf(name: string, number: number): Wish {
  const count = number % 5 < 3 ? 1 : BULK
  return {
    skus: Array.from({ length: count }, (_, index) => `${name}-${number}/${index}`),
    key: number % 2 === 0 ? `${name}-${number}` : undefined,
  }
}

/** A client that creates one thing after another, single stones and bulks, until it is told to end or nobody answers. */
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

/** Sends again what has a key, until it is answered. What has none stays open: nobody may repeat it. */
export async function repeatOpen(ann: Vendor, asked: Asked): Promise<void> {
  for (const wish of asked.open.splice(0)) {
    if (wish.key === undefined) asked.open.push(wish)
    else await until(`wish ${wish.key} to be granted`, () => isGranted(ann, wish, asked))
  }
}

/** What is neither granted nor refused by a 503 with a time to come again is a fault. */
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
