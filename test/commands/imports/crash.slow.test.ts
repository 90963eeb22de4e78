import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { finishBulk } from '../../../src/commands/bulk/accepted-bulk.ts'
import { createCommandContext, type CommandContext } from '../../../src/commands/core/command-context.ts'
import { diamondFold, type DiamondCreated } from '../../../src/domain/diamond/diamond.ts'
import { decode } from '../../../src/events/decode.ts'
import { foldEvents } from '../../../src/events/load-stream.ts'
import type { UsableLine } from '../../../src/trade-files/findings.ts'
import { readSettledStock } from '../../../src/commands/imports/stock.ts'
import { findResumePoint, writeBulks } from '../../../src/commands/imports/write-bulks.ts'
import { planCreations, planDeletions, planUpdates, type PlannedBulks } from '../../../src/trade-files/plan.ts'
import { findRemainingBulks, undoBulks } from '../../../src/commands/imports/undo-bulks.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { StoreUnavailable, type EventStore } from '../../../src/stores/ports/event-store.ts'
import { all, rejectedWith } from '../../contract/event-store/given.ts'
import { startPeer } from '../../eventstoredb/peer/peer.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'
import { unexpected } from './unexpected.ts'
import { fixedClock } from '../../fixed-clock.ts'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'

/** Two full bulks of 500 and a partial one. */
const STONES = 1_200
const BULKS = 3

const origin = { actor: 'operator', via: 'cli', correlation: 'another-run' } as const
const by = { owner: 1, origin }
const sourceFile = { account: 1, digest: 'of-the-file', bulkCount: BULKS, ignoresComplete: false }

async function* lines(price?: number): AsyncGenerator<UsableLine> {
  for (let line = 2; line < 2 + STONES; line++) {
    const set = {
      sku: `S-${line}`,
      cutShape: 2,
      carat: 1,
      'proportions.table': 57,
      ...(price !== undefined && { price }),
    }
    yield { line, change: { set, removed: [] }, report: { laboratory: 'GIA', number: `${line}/${price ?? 0}` } }
  }
}

/** A command context whose `at`-th bulk fails; half of it is stored if the store's bulk appends are not atomic. */
function contextThatCrashes(store: EventStore, at: number): CommandContext {
  let bulks = 0
  const crashing: EventStore = {
    ...store,
    async appendMany(appends) {
      if (appends.length < 100 || ++bulks < at) return store.appendMany(appends)
      if (!store.isAppendManyAtomic) await store.appendMany(appends.slice(0, appends.length / 2))
      throw new StoreUnavailable('the process died')
    },
  }
  return contextFor(crashing)
}

const contextFor = (store: EventStore) => createCommandContext(store, fixedClock)

async function importNew(context: CommandContext) {
  const { id, completedBulks } = await findResumePoint(context, sourceFile)
  const counts = await write(context, { id, completedBulks }, planCreations(lines()))
  return { id, done: completedBulks, ...counts }
}

async function importBySku(context: CommandContext, id: string, price: number) {
  const stock = await readStock(context)
  return write(context, { id, completedBulks: 0 }, planUpdates(lines(price), stock))
}

/** For bulks without PDFs. */
const NO_REPORT_FILES = { files: {} as FileStore, folder: '' }

const write = (context: CommandContext, run: { id: string; completedBulks: number }, bulks: PlannedBulks) =>
  writeBulks(
    { context, principal: { ...by, origin: { ...origin, correlation: run.id } }, reportFiles: NO_REPORT_FILES, ...run },
    bulks,
  )

const readStock = (context: CommandContext) =>
  readSettledStock(context, 1, { onSkippedEvent: unexpected, onUnfinishedRequest: unexpected })

/** Finishes all bulks, as a service does when it starts. */
async function finishAll(store: EventStore): Promise<void> {
  const requests = await all(store.readAll('start', { prefixes: ['request-'] }))
  for (const stream of new Set(requests.map((event) => event.stream))) await finishBulk(contextFor(store), stream)
}

const undoImport = async (context: CommandContext, id: string) =>
  undoBulks(context, by, await findRemainingBulks(context, id))

const diamondEvents = (store: EventStore) => all(store.readAll('start', { prefixes: ['diamond-'] }))

/** The numbers of created stones and of their distinct skus. */
async function countCreated(store: EventStore) {
  const creations = (await diamondEvents(store)).filter(({ type }) => type === 'DiamondCreated')
  const skus = new Set(creations.map((event) => decode<DiamondCreated>(event).data.set.sku))
  return [creations.length, skus.size]
}

/** The numbers of reports that stones have, and of stones with one. */
async function countReports(store: EventStore) {
  const streams = Map.groupBy(await diamondEvents(store), ({ stream }) => stream)
  const reports = [...streams.values()].map((events) => {
    const diamond = foldEvents(diamondFold, events)
    return diamond.status === 'live' ? diamond.certifications.length : 0
  })
  return [reports.reduce((sum, count) => sum + count, 0), reports.filter((count) => count > 0).length]
}

const SQLITE = async () => {
  const store = temporaryLog()
  return { store, close: () => store.close() }
}
const EVENTSTOREDB = async () => {
  const peer = await startPeer()
  const store = openEventStoreDB(peer.url)
  return { store, close: () => store.close().then(() => peer.stop()) }
}

for (const [engine, open] of [
  ['the embedded log', SQLITE],
  ['EventStoreDB', EVENTSTOREDB],
] as const) {
  const test = suite<{ store: EventStore; close: () => Promise<void> }>(`an import that crashes, on ${engine}`)
  test.before.each(async (context) => {
    Object.assign(context, await open())
  })
  test.after.each(({ close }) => close())

  test('is resumed by the next import, and creates no stone twice', async ({ store }) => {
    await rejectedWith(StoreUnavailable, importNew(contextThatCrashes(store, 3)))
    const rest = await importNew(contextFor(store))
    assert.ok(rest.done >= 2)
    assert.is(rest.created + rest.unchanged, STONES)
    assert.equal(await countCreated(store), [STONES, STONES])
    assert.equal(await countReports(store), [STONES, STONES])
    assert.is((await findResumePoint(contextFor(store), sourceFile)).completedBulks, BULKS)
  })

  test('by sku leaves no stone that the next import would create again', async ({ store }) => {
    await rejectedWith(StoreUnavailable, importBySku(contextThatCrashes(store, 3), 'one', 5))
    const rest = await importBySku(contextFor(store), 'other', 5)
    assert.is(rest.created + rest.unchanged, STONES)
    assert.is(rest.changed, 0)
    await finishAll(store)
    assert.equal(await countCreated(store), [STONES, STONES])
    assert.equal(await countReports(store), [STONES, STONES])
  })

  test('is undone once per stone, even if the undo crashes too', async ({ store }) => {
    const { id } = await importNew(contextFor(store))
    await importBySku(contextFor(store), 'prices', 5)
    const stock = await readStock(contextFor(store))
    const deletedIds = [...stock.skus.keys()].slice(0, 600)
    const deleted = await write(contextFor(store), { id: 'gone', completedBulks: 0 }, planDeletions(deletedIds))
    assert.is(deleted.deleted, 600)
    for (const undone of ['gone', 'prices', id]) {
      await rejectedWith(StoreUnavailable, undoImport(contextThatCrashes(store, 1), undone))
      await undoImport(contextFor(store), undone)
      await undoImport(contextFor(store), undone)
    }
    // The 600 deleted stones were created again with new ids, so the undo of the first import leaves them.
    assert.is((await readStock(contextFor(store))).skus.size, 600)
    assert.equal(await countCreated(store), [STONES + 600, STONES])
    assert.equal(await countReports(store), [600, 600])
    const patches = (await diamondEvents(store)).filter(({ type }) => type === 'DiamondPatched')
    assert.is(patches.length, 2 * STONES - 600)
  })

  test.run()
}
