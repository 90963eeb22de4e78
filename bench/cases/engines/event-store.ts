import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent, streamNameFilter } from '@eventstore/db-client'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import type { EventStore, NewEvent } from '../../../src/stores/ports/event-store.ts'
import type { Bench, Case, Group } from '../../group.ts'
import { startEventStore } from '../../services/event-store.ts'
import { each, oneByOne, overhead } from './overhead.ts'

/** Overhead of the EventStoreDB adapter over its client, on one server in one run. */
export const eventStore: Group = { name: 'event-store', long: true, prepare }

const APPENDS = 300
const AT_ONCE = 500
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
    appending(store, client),
    appendingAtOnce(store, client),
    await reading(store, client),
    await catchingUp(store, client),
  ]
}

function appending(store: EventStore, client: EventStoreDBClient): Case {
  return overhead(
    'EventStoreDB: sequential appends',
    oneByOne(APPENDS, () => store.append(stream('one'), 'none', [event()])),
    oneByOne(APPENDS, () => client.appendToStream(stream('one'), bareEvent(), NO_STREAM)),
  )
}

function appendingAtOnce(store: EventStore, client: EventStoreDBClient): Case {
  const streams = () => Array.from({ length: AT_ONCE }, () => stream('bulk'))
  return overhead(
    `EventStoreDB: ${AT_ONCE} concurrent appends`,
    each(AT_ONCE, () =>
      store.appendMany(streams().map((name) => ({ stream: name, expected: 'none', events: [event()] }))),
    ),
    each(AT_ONCE, () => Promise.all(streams().map((name) => client.appendToStream(name, bareEvent(), NO_STREAM)))),
  )
}

async function reading(store: EventStore, client: EventStoreDBClient): Promise<Case> {
  const name = stream('read')
  await store.append(name, 'none', Array.from({ length: READ_EVENTS }, event))
  const readBare = async () => {
    let count = 0
    for await (const { event: read } of client.readStream(name)) if (read !== undefined) count++
    if (count !== READ_EVENTS) throw new Error(`${count} events were read`)
  }
  return overhead(
    `EventStoreDB: read of a stream of ${READ_EVENTS} events`,
    oneByOne(READS, () => store.read(name)),
    oneByOne(READS, readBare),
  )
}

async function catchingUp(store: EventStore, client: EventStoreDBClient): Promise<Case> {
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
    for await (const { event: heard } of subscription) if (heard !== undefined && ++count >= HISTORY) break
    await subscription.unsubscribe()
  }
  return overhead(
    `EventStoreDB: catch-up of ${HISTORY.toLocaleString('en')} events, per event`,
    each(HISTORY, ours),
    each(HISTORY, bare),
  )
}
