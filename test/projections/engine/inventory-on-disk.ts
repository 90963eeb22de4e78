import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { changeDiamond, createDiamonds, planDelete, planPatch } from '../../../src/commands/diamonds/diamonds.ts'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import type { DiamondFields } from '../../../src/domain/diamond/fields.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { CHANGE_NUMBERS, type DiamondRecord } from '../../../src/projections/diamonds/diamond-record.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import { EVENTS_PER_TURN } from '../../../src/projections/engine/background-services.ts'
import { ReadModelConsumer } from '../../../src/projections/engine/read-model-consumer.ts'
import type { AnyProjection, Projection } from '../../../src/projections/engine/read-model.ts'
import { ConsumerRunner } from '../../../src/projections/engine/runner.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import type { Document, ReadStore } from '../../../src/stores/ports/read-store.ts'
import { openSqliteReadStore } from '../../../src/stores/sqlite/documents.ts'
import { openSqliteEventStore, type SqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import { withFolder } from '../../temporary-folder.ts'
import { fixedClock } from '../../fixed-clock.ts'

export const origin = { actor: 'account-1', via: 'http', correlation: 'r-1' } as const
const vendorContext = { owner: 1, origin }
const silent = createLogger('silent')

/** An event store and its read models in one folder. */
export type Disk = { readonly store: SqliteEventStore; readonly reads: ReadStore; close(): Promise<void> }

export function openDisk(folder: string): Disk {
  const store = openSqliteEventStore(join(folder, 'events.db'))
  const reads = openSqliteReadStore(folder)
  return {
    store,
    reads,
    async close() {
      await store.close()
      await reads.close()
    },
  }
}

/** Runs with the stores of a new folder, and closes them afterwards. */
export const withDisk = (run: (disk: Disk, folder: string) => Promise<void>) => () =>
  withFolder(async (folder) => {
    const disk = openDisk(folder)
    try {
      await run(disk, folder)
    } finally {
      await disk.close()
    }
  })

/** Commands of account 1. */
export function vendorOf(store: EventStore) {
  const context = createCommandContext(store, fixedClock)
  const diamondIds = new IdAllocator({ ...context, kind: 'diamond', size: 100, origin })
  return {
    async create(count: number): Promise<number[]> {
      const entries = Array.from({ length: count }, (_, index) => ({ sku: `SKU-${index}`, cutShape: 2, carat: 1 }))
      const { created } = await createDiamonds({ ...context, diamondIds }, { owner: 1, origin, entries })
      return created.map(({ data }) => data.id)
    },
    patch: (id: number, set: Partial<DiamondFields>) =>
      changeDiamond(context, vendorContext, planPatch(id, { set, removed: [] }, vendorContext)),
    remove: (id: number) => changeDiamond(context, vendorContext, planDelete(id, vendorContext)),
  }
}

type Stores = { readonly store: EventStore; readonly reads: ReadStore }

export const consumerOf = ({ store, reads }: Stores, projection: AnyProjection) =>
  new ReadModelConsumer(projection, store, reads, silent, EVENTS_PER_TURN)

export const runnerOf = (stores: Stores, projection: Projection<DiamondRecord> = diamonds) =>
  new ConsumerRunner(consumerOf(stores, projection), stores.store, silent)

/** Limit in ms for a projection to catch up. */
export const DEADLINE = 120_000

/** Runs the diamonds projection to the head of the log and stops it. */
export async function project(disk: { store: EventStore; reads: ReadStore }): Promise<void> {
  const runner = runnerOf(disk)
  runner.start()
  assert.ok(await runner.progress.waitForPosition(await disk.store.head(), DEADLINE), 'the projection did not catch up')
  await runner.stop()
}

/** Not compared: a retry assigns new change numbers. account-sequence.test.ts tests them. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set(CHANGE_NUMBERS)
const COMPARED_FIELDS = [...Object.keys(diamonds.declaration.fields), ...diamonds.declaration.texts].filter(
  (name) => !IGNORED_FIELDS.has(name),
)

const pickShownFields = (document: Document) =>
  Object.fromEntries(COMPARED_FIELDS.map((name) => [name, document[name]]))

/** The diamonds of an account in the read model, oldest first, and their total. */
export async function readModelContent(reads: ReadStore, owner = 1): Promise<unknown> {
  const model = await reads.model(diamonds.declaration)
  const order = [['date', 'asc'] as const, ['id', 'asc'] as const]
  const found = await model.find({ where: { owner }, order, limit: 1000, offset: 0, select: COMPARED_FIELDS })
  return { total: await model.count({ owner }), diamonds: found.map(pickShownFields) }
}

/** The expected content of the read model: the log, folded directly. */
export async function expectedContent(store: EventStore, owner = 1): Promise<unknown> {
  const views = new Map<unknown, DiamondRecord | undefined>()
  for await (const event of store.readAll('start', { prefixes: diamonds.streamPrefixes })) {
    const key = diamonds.keyOf(event)
    views.set(key, diamonds.evolve(views.get(key), event, 0))
  }
  const live = [...views.values()].flatMap((one) => (one?.view?.diamond.owner === owner ? [one] : []))
  const documents = live.map((one) => diamonds.toDocument(one))
  const sorted = documents.toSorted(
    (a, b) => Number(a['date']) - Number(b['date']) || Number(a['id']) - Number(b['id']),
  )
  return { total: live.length, diamonds: sorted.map(pickShownFields) }
}

/** Asserts that the read model equals a direct fold of the log. */
export const assertModelMatchesLog = async ({ store, reads }: { store: EventStore; reads: ReadStore }, owner = 1) =>
  assert.equal(await readModelContent(reads, owner), await expectedContent(store, owner))
