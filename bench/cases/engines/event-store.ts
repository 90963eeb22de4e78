import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent, streamNameFilter } from '@eventstore/db-client'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import type { EventStore, NewEvent } from '../../../src/stores/ports/event-store.ts'
import type { Bench, Case, CaseGroup } from '../../group.ts'
import { startEventStore } from '../../services/event-store.ts'
import { perItem, perCall, overhead } from './overhead.ts'

/** Overhead of the EventStoreDB adapter over its client, on one server in one run. */
export const eventStore: CaseGroup = { name: 'event-store', isLong: true, prepare }

const APPENDS = 300
const CONCURRENT_APPENDS = 500
const READS = 200
const READ_EVENTS = 20
const HISTORY = 20_000

/** About 190 bytes of JSON, like a stone. */
const data = {
  id: 4711,
  owner: 7,
  date: 1_795_287_363,
  set: { sku: 'BENCH-4711', cutShape: 2, carat: 0.73, note: 'x'.repeat(100) },
}
const metadata = {
  actor: 'account-7',
  via: 'http',
  $correlationId: randomUUID(),
  schema: '1',
  at: new Date().toISOString(),
}

const event = (): NewEvent => ({ id: randomUUID(), type: 'DiamondCreated', data, metadata })
const bareEvent = () => jsonEvent({ ...event() })
const stream = (category: string) => `${category}-${randomUUID()}`
const NO_STREAM = { expectedRevision: 'no_stream' } as const

async function prepare(bench: Bench): Promise<Case[]> {
  const server = await startEventStore()
  const store = openEventStoreDB(server.url)
  const client = EventStoreDBClient.connectionString(server.url)
  bench.finally(async () => {
    await store.close()
    await client.dispose()
    await server.stop()
  })
  return [
    sequentialAppends(store, client),
    concurrentAppends(store, client),
    await streamReads(store, client),
    await catchUp(store, client),
  ]
}

function sequentialAppends(store: EventStore, client: EventStoreDBClient): Case {
  return overhead(
    'EventStoreDB: sequential appends',
    perCall(APPENDS, () => store.append(stream('one'), 'none', [event()])),
    perCall(APPENDS, () => client.appendToStream(stream('one'), bareEvent(), NO_STREAM)),
  )
}

function concurrentAppends(store: EventStore, client: EventStoreDBClient): Case {
  const streams = () => Array.from({ length: CONCURRENT_APPENDS }, () => stream('bulk'))
  return overhead(
    `EventStoreDB: ${CONCURRENT_APPENDS} concurrent appends`,
    perItem(CONCURRENT_APPENDS, () =>
      store.appendMany(streams().map((name) => ({ stream: name, expected: 'none', events: [event()] }))),
    ),
    perItem(CONCURRENT_APPENDS, () =>
      Promise.all(streams().map((name) => client.appendToStream(name, bareEvent(), NO_STREAM))),
    ),
  )
}

async function streamReads(store: EventStore, client: EventStoreDBClient): Promise<Case> {
  const name = stream('read')
  await store.append(name, 'none', Array.from({ length: READ_EVENTS }, event))
  const readBare = async () => {
    let count = 0
    for await (const { event: read } of client.readStream(name)) if (read !== undefined) count++
    if (count !== READ_EVENTS) throw new Error(`${count} events were read`)
  }
  return overhead(
    `EventStoreDB: read of a stream of ${READ_EVENTS} events`,
    perCall(READS, () => store.readStream(name)),
    perCall(READS, readBare),
  )
}

async function catchUp(store: EventStore, client: EventStoreDBClient): Promise<Case> {
  const category = `history${randomUUID().slice(0, 8)}`
  const prefixes = [`${category}-`]
  for (let done = 0; done < HISTORY; done += 1_000) {
    await store.append(stream(category), 'none', Array.from({ length: 1_000 }, event))
  }
  const ours = async () => {
    let count = 0
    for await (const batch of store.subscribe('start', { prefixes }))
      if ((count += batch.events.length) >= HISTORY) return
  }
  const bare = async () => {
    let count = 0
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes }) })
    for await (const { event: received } of subscription) if (received !== undefined && ++count >= HISTORY) break
    await subscription.unsubscribe()
  }
  return overhead(
    `EventStoreDB: catch-up of ${HISTORY.toLocaleString('en')} events, per event`,
    perItem(HISTORY, ours),
    perItem(HISTORY, bare),
  )
}
