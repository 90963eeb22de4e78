import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { waitUntilScored } from '../../fill.ts'
import type { Bench, Case, CaseGroup, Measurement } from '../../group.ts'
import { measureRate } from '../../rate.ts'
import { startEventStore } from '../../services/event-store.ts'
import { stones } from '../../stones.ts'

/**
 * How well the service uses EventStoreDB. Creating a diamond needs two appends (the diamond and its scores) and two
 * deliveries, so the upper limit is half the append rate of the bare client on the same server in the same run.
 * Recorded without a target, because that server shares the two cores.
 */
export const ceiling: CaseGroup = { name: 'ceiling', isLong: true, prepare }

const CONNECTIONS = 20
const BULK_SIZE = 500

async function prepare(bench: Bench): Promise<Case[]> {
  const server = await startEventStore()
  bench.finally(() => server.stop())
  const client = EventStoreDBClient.connectionString(server.url)
  bench.finally(() => client.dispose())
  const adamant = await bench.adamant({ EVENT_STORE: server.url, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') })
  const one = stones(BULK_SIZE).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const many = [{ method: 'POST', path: '/v4/diamond/bulk', json: JSON.stringify({ entries: stones(BULK_SIZE) }) }]
  const bulks = measureRate(bench, adamant, 1, many)
  /** Waits for scoring, so that work left by one side does not slow down the other. */
  const afterScoring =
    (rate: Measurement): Measurement =>
    async () => {
      await waitUntilScored(adamant)
      return rate()
    }
  return [
    {
      name: `on EventStoreDB: create, ${CONNECTIONS} connections, against half the append rate of the bare client with as many callers`,
      unit: 'requests/s',
      ours: afterScoring(measureRate(bench, adamant, CONNECTIONS, one)),
      baseline: afterScoring(halved(appends(client, bench.seconds, CONNECTIONS))),
    },
    {
      name: `on EventStoreDB: stones in bulks of ${BULK_SIZE}, against half the append rate of the bare client with as many callers`,
      unit: 'requests/s',
      ours: afterScoring(async () => (await bulks()) * BULK_SIZE),
      baseline: afterScoring(halved(appends(client, bench.seconds, BULK_SIZE))),
    },
  ]
}

const halved =
  (rate: Measurement): Measurement =>
  async () =>
    (await rate()) / 2

/** Appends per second by concurrent callers, each of one event to a new stream. */
function appends(client: EventStoreDBClient, seconds: number, callers: number): Measurement {
  return async () => {
    const startedAt = performance.now()
    const end = startedAt + seconds * 1000
    let done = 0
    const caller = async () => {
      for (; performance.now() < end; done++)
        await client.appendToStream(`bare-${randomUUID()}`, event(), { expectedRevision: 'no_stream' })
    }
    await Promise.all(Array.from({ length: callers }, caller))
    return (done * 1000) / (performance.now() - startedAt)
  }
}

const [stone] = stones(1)

const event = () =>
  jsonEvent({
    id: randomUUID(),
    type: 'DiamondCreated',
    data: { id: 4711, owner: 7, date: 1_795_287_363, set: { ...stone } },
    metadata: { actor: 'account-7', via: 'http', schema: '1', at: new Date().toISOString() },
  })
