import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import type { Shown } from '../../api/harness/stones.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { everyDiamond } from '../serving.ts'
import type { Asked } from '../wishes.ts'
import { until } from '../../until.ts'

/** The ids that each sku was created with, by the log. */
async function birthsIn(log: EventStore): Promise<Map<string, number[]>> {
  const births = new Map<string, number[]>()
  for await (const { type, data } of log.readAll('start', { prefixes: ['diamond-'] })) {
    if (type !== 'DiamondCreated') continue
    const { id, set } = data as { id: number; set: { sku: string } }
    births.set(set.sku, [...(births.get(set.sku) ?? []), id])
  }
  return births
}

/** The births by the log, and what the lists of both versions show of them. */
type Seen = { births: Map<string, number[]>; lists: { total: number; diamonds: Shown[] }[] }

/**
 * Waits until every bulk is whole, and until nothing came between the log's answer and the lists': a bulk that was
 * refused may be finished at any moment of the half minute after it, also whole.
 */
async function settled(log: EventStore, ann: Vendor, { open }: Asked): Promise<Seen> {
  let seen: Seen = { births: new Map(), lists: [] }
  const isSettled = async () => {
    const births = await birthsIn(log)
    if (open.some(({ skus }) => new Set(skus.map((sku) => births.has(sku))).size > 1)) return false
    const { status, headers } = await ann.get('/v4/diamond')
    if (status !== 200 || headers['x-consistency'] !== undefined) return false
    seen = { births, lists: [await everyDiamond(ann, 'v3'), await everyDiamond(ann, 'v4')] }
    return (await birthsIn(log)).size === births.size
  }
  await until('whole bulks, and current lists', isSettled)
  return seen
}

/**
 * Everything that was acknowledged is there once, by the log and by the lists of both versions, under the id that was
 * told; what nobody was told of is there once and whole, or not at all; and there is nothing else.
 */
export async function grantedOnce(log: EventStore, ann: Vendor, asked: Asked): Promise<void> {
  const { births, lists } = await settled(log, ann, asked)
  const ids = [...births.values()].flat()
  assert.is(ids.length, births.size, 'a stone is there twice')
  assert.is(new Set(ids).size, ids.length, 'two stones share an id')
  for (const [sku, id] of asked.acknowledged) assert.equal(births.get(sku), [id], `${sku} was acknowledged as ${id}`)
  const wished = new Set([...asked.acknowledged.keys(), ...asked.open.flatMap(({ skus }) => skus)])
  for (const sku of births.keys()) assert.ok(wished.has(sku), `nobody asked for ${sku}`)
  const wanted = [...births].map(([sku, [id]]) => `${id} ${sku}`).toSorted()
  for (const { total, diamonds } of lists) {
    assert.is(total, wanted.length)
    assert.equal(diamonds.map(({ id, sku }) => `${id} ${sku}`).toSorted(), wanted)
  }
}
