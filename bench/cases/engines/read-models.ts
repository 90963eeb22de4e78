import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventStoreDBClient } from '@eventstore/db-client'
import { createLogger } from '../../../src/runtime/logger.ts'
import { ReadModelConsumer } from '../../../src/projections/engine/read-model-consumer.ts'
import { ConsumerRunner } from '../../../src/projections/engine/runner.ts'
import { shareReads } from '../../../src/stores/log/shared-read.ts'
import { READ_MODELS } from '../../../src/wiring/consumers.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { openSqliteReadStore } from '../../../src/stores/sqlite/documents.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import type { Bench, Case, CaseGroup } from '../../group.ts'
import { appendStones } from '../../scored-stones.ts'
import { startEventStore } from '../../services/event-store.ts'
import { perItem } from './overhead.ts'

/** The cost of rebuilding all read models, compared with just reading the same log. */
export const readModels: CaseGroup = { name: 'read-models', isLong: true, prepare }

const STONES = 10_000
/** For each stone, one event that creates it and one with its scores. */
const EVENTS = 2 * STONES

/** Ratio to the time of just reading, on a server. The difference pays for folding, writing and indexing. */
const SERVER_TARGET = { max: 2.5 } as const

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
      name: `EventStoreDB: rebuild of all read models from ${EVENTS.toLocaleString('en')} events, per event`,
      unit: 'us',
      ours: perItem(EVENTS, () => buildAll(store)),
      baseline: perItem(EVENTS, () => readBare(client)),
      target: SERVER_TARGET,
    },
    {
      name: `SQLite: rebuild of all read models from ${EVENTS.toLocaleString('en')} events, per event`,
      unit: 'us',
      ours: perItem(EVENTS, () => buildAll(embedded)),
      baseline: perItem(EVENTS, () => readAll(embedded)),
    },
  ]
}

/** Builds all read models from scratch up to the head of the log, as one process does. */
async function buildAll(events: EventStore): Promise<void> {
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
    if (!(await progress.waitForPosition(head, 120_000)))
      throw new Error('a read model did not reach the head within 120 s')
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
