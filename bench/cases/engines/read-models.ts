import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventStoreDBClient } from '@eventstore/db-client'
import { createLogger } from '../../../src/runtime/logger.ts'
import { ReadModelConsumer } from '../../../src/projections/engine/read-model-consumer.ts'
import { ConsumerRunner } from '../../../src/projections/engine/runner.ts'
import { shareReads } from '../../../src/projections/engine/shared-read.ts'
import { READ_MODELS } from '../../../src/wiring/followers.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { openSqliteReadStore } from '../../../src/stores/sqlite/documents.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import type { Bench, Case, Group } from '../../group.ts'
import { appendStones } from '../../scored-stones.ts'
import { startEventStore } from '../../services/event-store.ts'
import { each } from './overhead.ts'

/** What it costs to make all read models anew, beside a bare read of the same log. */
export const readModels: Group = { name: 'read-models', long: true, prepare }

const STONES = 10_000
/** A stone that was created, and its scores. */
const EVENTS = 2 * STONES

/** Of the bare read's rate, on a server: to fold, to write and to index costs something too. */
const ON_SERVER = { most: 2.5 } as const

async function prepare(bench: Bench): Promise<Case[]> {
  const server = await startEventStore()
  const store = openEventStoreDB(server.url)
  const client = EventStoreDBClient.connectionString(server.url)
  const folder = mkdtempSync(join(tmpdir(), 'adamant-bench-'))
  const embedded = openSqliteEventStore(join(folder, 'events.db'))
  bench.finally(async () => {
    await embedded.close()
    rmSync(folder, { recursive: true })
    await store.close()
    await client.dispose()
    await server.stop()
  })
  await Promise.all([appendStones(store, STONES), appendStones(embedded, STONES)])
  return [
    {
      name: `EventStoreDB: an event of ${EVENTS.toLocaleString('en')} in all read models made anew`,
      unit: 'us',
      ours: each(EVENTS, () => made(store)),
      other: each(EVENTS, () => readBare(client)),
      target: ON_SERVER,
    },
    {
      name: `SQLite: an event of ${EVENTS.toLocaleString('en')} in all read models made anew`,
      unit: 'us',
      ours: each(EVENTS, () => made(embedded)),
      other: each(EVENTS, () => readAll(embedded)),
    },
  ]
}

/** All read models, from nothing to the head of the log, as one process makes them. */
async function made(events: EventStore): Promise<void> {
  const store = shareReads(events)
  const log = createLogger('silent')
  const folder = mkdtempSync(join(tmpdir(), 'adamant-bench-'))
  const reads = openSqliteReadStore(folder)
  const runners = READ_MODELS.map(
    (projection) => new ConsumerRunner(new ReadModelConsumer(projection, store, reads, log), store, log),
  )
  const head = await store.head()
  for (const runner of runners) runner.start()
  for (const { progress } of runners)
    if (!(await progress.waitForPosition(head, 120_000))) throw new Error('it took too long')
  await Promise.all(runners.map((runner) => runner.stop()))
  await reads.close()
  rmSync(folder, { recursive: true })
}

async function readBare(client: EventStoreDBClient): Promise<void> {
  let count = 0
  for await (const { event } of client.readAll()) if (event?.streamId.startsWith('$') === false) count++
  if (count < EVENTS) throw new Error(`${count} events were read`)
}

async function readAll(store: EventStore): Promise<void> {
  let count = 0
  for await (const { stream } of store.readAll('start')) if (stream !== '') count++
  if (count < EVENTS) throw new Error(`${count} events were read`)
}
