import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { everyDiamond } from '../serving.ts'
import type { Asked } from '../wishes.ts'
import { until } from '../../until.ts'

/** Milliseconds: what a dead process has left half is finished after 30 s. */
const FINISHED = 120_000

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

/**
 * Everything that was acknowledged is there once, by the log and by the lists of both versions, under the id that was
 * told; what nobody was told of is there once and whole, or not at all; and there is nothing else.
 */
export async function grantedOnce(log: EventStore, ann: Vendor, asked: Asked): Promise<void> {
  const half = async () => {
    const births = await birthsIn(log)
    return asked.open.find(({ skus }) => new Set(skus.map((sku) => births.has(sku))).size > 1)
  }
  await until('every bulk to be whole', async () => (await half()) === undefined, FINISHED)
  const births = await birthsIn(log)
  const ids = [...births.values()].flat()
  assert.is(ids.length, births.size, 'a stone is there twice')
  assert.is(new Set(ids).size, ids.length, 'two stones share an id')
  for (const [sku, id] of asked.acknowledged) assert.equal(births.get(sku), [id], `${sku} was acknowledged as ${id}`)
  const wished = new Set([...asked.acknowledged.keys(), ...asked.open.flatMap(({ skus }) => skus)])
  for (const sku of births.keys()) assert.ok(wished.has(sku), `nobody asked for ${sku}`)
  await showsAll(ann, births)
}

async function showsAll(ann: Vendor, births: ReadonlyMap<string, readonly number[]>): Promise<void> {
  const isCurrent = async () => {
    const { status, headers } = await ann.get('/v4/diamond')
    return status === 200 && headers['x-consistency'] === undefined
  }
  await until('current lists', isCurrent, FINISHED)
  const wanted = [...births].map(([sku, [id]]) => `${id} ${sku}`).toSorted()
  for (const version of ['v3', 'v4']) {
    const { total, diamonds } = await everyDiamond(ann, version)
    assert.is(total, wanted.length)
    assert.equal(diamonds.map(({ id, sku }) => `${id} ${sku}`).toSorted(), wanted)
  }
}
