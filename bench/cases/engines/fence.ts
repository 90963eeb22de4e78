import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import type { EventStore, NewEvent } from '../../../src/stores/ports/event-store.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import type { Bench, Case, CaseGroup, Measurement } from '../../group.ts'
import { startEventStore } from '../../services/event-store.ts'
import { perItem, perCall } from './overhead.ts'

/**
 * The cost of checking before each append whether the log is fenced (docs/decisions/0025): a store with the check
 * against one that skips it, as for the target of a copy.
 */
export const fence: CaseGroup = { name: 'fence', isLong: true, prepare }

const APPENDS = 200
/** Concurrent callers; their appends share transactions on SQLite. */
const CALLERS = 20
const APPENDS_PER_CALLER = 50

async function prepare(bench: Bench): Promise<Case[]> {
  const folder = await mkdtemp(join(tmpdir(), 'adamant-bench-fence-'))
  const server = await startEventStore()
  const file = join(folder, 'events.db')
  // Both sides use one log, because the disk performance of two files differs by more than the effect measured here.
  const stores = {
    SQLite: [openSqliteEventStore(file), openSqliteEventStore(file, { isCopyTarget: true })],
    EventStoreDB: [openEventStoreDB(server.url), openEventStoreDB(server.url, undefined, { isCopyTarget: true })],
  } as const
  bench.finally(async () => {
    await Promise.all(Object.values(stores).flatMap((both) => both.map((store) => store.close())))
    await server.stop()
    await rm(folder, { recursive: true })
  })
  return Object.entries(stores).flatMap(([engine, [ours, baseline]]) => [
    { name: `${engine}: append with fence check`, unit: 'us', ours: sequential(ours), baseline: sequential(baseline) },
    {
      name: `${engine}: append with fence check, ${CALLERS} callers`,
      unit: 'us',
      ours: concurrent(ours),
      baseline: concurrent(baseline),
    },
  ])
}

const event = (): NewEvent => ({
  id: randomUUID(),
  type: 'DiamondCreated',
  data: { id: 4711, owner: 7, date: 1_795_287_363, set: { sku: 'BENCH-4711', cutShape: 2, carat: 0.73 } },
  metadata: { actor: 'account-7', via: 'http', schema: '1', at: new Date().toISOString() },
})

const append = (store: EventStore) => store.append(`one-${randomUUID()}`, 'none', [event()])

const sequential = (store: EventStore): Measurement => perCall(APPENDS, () => append(store))

function concurrent(store: EventStore): Measurement {
  const caller = async () => {
    for (let done = 0; done < APPENDS_PER_CALLER; done++) await append(store)
  }
  return perItem(APPENDS_PER_CALLER * CALLERS, () => Promise.all(Array.from({ length: CALLERS }, caller)))
}
