import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import type { Shown } from '../../api/harness/stones.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { everyDiamond } from '../serving.ts'
import type { CreateResults } from '../create-requests.ts'
import { until } from '../../until.ts'

/** The ids with which each sku was created, according to the log. */
async function createdIn(log: EventStore): Promise<Map<string, number[]>> {
  const created = new Map<string, number[]>()
  for await (const { type, data } of log.readAll('start', { prefixes: ['diamond-'] })) {
    if (type !== 'DiamondCreated') continue
    const { id, set } = data as { id: number; set: { sku: string } }
    created.set(set.sku, [...(created.get(set.sku) ?? []), id])
  }
  return created
}

/** The created stones in the log and the lists of both API versions. */
type Inventory = { created: Map<string, number[]>; lists: { total: number; diamonds: Shown[] }[] }

/**
 * Waits until every bulk is complete and the lists are current. A bulk that got a 503 may still be completed within the next half
 * minute, so the log must not change between reading it and the lists.
 */
async function settled(log: EventStore, ann: Vendor, { open }: CreateResults): Promise<Inventory> {
  let inventory: Inventory = { created: new Map(), lists: [] }
  const isSettled = async () => {
    const created = await createdIn(log)
    if (open.some(({ skus }) => new Set(skus.map((sku) => created.has(sku))).size > 1)) return false
    const { status, headers } = await ann.get('/v4/diamond')
    if (status !== 200 || headers['x-consistency'] !== undefined) return false
    inventory = { created, lists: [await everyDiamond(ann, 'v3'), await everyDiamond(ann, 'v4')] }
    return (await createdIn(log)).size === created.size
  }
  await until('complete bulks and current lists', isSettled)
  return inventory
}

/**
 * Asserts that every acknowledged stone exists exactly once in the log and in both lists, with its acknowledged id; that the other
 * requests were executed completely or not at all; and that no other stone exists.
 */
export async function assertCreatedOnce(log: EventStore, ann: Vendor, results: CreateResults): Promise<void> {
  const { created, lists } = await settled(log, ann, results)
  const ids = [...created.values()].flat()
  assert.is(ids.length, created.size, 'a stone was created twice')
  assert.is(new Set(ids).size, ids.length, 'two stones share an id')
  for (const [sku, id] of results.acknowledged) assert.equal(created.get(sku), [id], `${sku} was acknowledged as ${id}`)
  const requested = new Set([...results.acknowledged.keys(), ...results.open.flatMap(({ skus }) => skus)])
  for (const sku of created.keys()) assert.ok(requested.has(sku), `no client created ${sku}`)
  const expected = [...created].map(([sku, [id]]) => `${id} ${sku}`).toSorted()
  for (const { total, diamonds } of lists) {
    assert.is(total, expected.length)
    assert.equal(diamonds.map(({ id, sku }) => `${id} ${sku}`).toSorted(), expected)
  }
}
