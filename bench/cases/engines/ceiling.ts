import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { scored } from '../../fill.ts'
import type { Bench, Case, Group, Measurement } from '../../group.ts'
import { rateOf } from '../../rate.ts'
import { startEventStore } from '../../services/event-store.ts'
import { stones } from '../../stones.ts'

/**
 * What the service makes of its event store. A diamond that is created is two appends, its own and its scores', and two
 * deliveries: so half of what the bare client appends, in the same run on the same server, is as much as there can be.
 */
export const ceiling: Group = { name: 'ceiling', long: true, prepare }

const CONNECTIONS = 20
const BULK = 500
/** Of the ceiling. */
const LEAST = 0.6

async function prepare(bench: Bench): Promise<Case[]> {
  const server = await startEventStore()
  bench.finally(() => server.stop())
  const client = EventStoreDBClient.connectionString(server.url)
  bench.finally(() => client.dispose())
  const adamant = await bench.adamant({ EVENT_STORE: server.url, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') })
  const one = stones(BULK).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const many = [{ method: 'POST', path: '/v4/diamond/bulk', json: JSON.stringify({ entries: stones(BULK) }) }]
  const bulks = rateOf(bench, adamant, 1, many)
  /** What one side has left to be scored is no work of the other's. */
  const afterScoring =
    (rate: Measurement): Measurement =>
    async () => {
      await scored(adamant)
      return rate()
    }
  return [
    {
      name: `on EventStoreDB: create, ${CONNECTIONS} connections, against half the client's appends of as many callers`,
      unit: 'requests/s',
      ours: afterScoring(rateOf(bench, adamant, CONNECTIONS, one)),
      other: afterScoring(half(appends(client, bench.seconds, CONNECTIONS))),
      target: { least: LEAST },
    },
    {
      name: `on EventStoreDB: stones in bulks of ${BULK}, against half the client's appends of as many callers`,
      unit: 'requests/s',
      ours: afterScoring(async () => (await bulks()) * BULK),
      other: afterScoring(half(appends(client, bench.seconds, BULK))),
      target: { least: LEAST },
    },
  ]
}

const half =
  (rate: Measurement): Measurement =>
  async () =>
    (await rate()) / 2

/** Appends a second, of so many callers, each of one event to a stream of its own. */
function appends(client: EventStoreDBClient, seconds: number, callers: number): Measurement {
  return async () => {
    const begun = performance.now()
    const end = begun + seconds * 1000
    let done = 0
    const caller = async () => {
      for (; performance.now() < end; done++)
        await client.appendToStream(`bare-${randomUUID()}`, event(), { expectedRevision: 'no_stream' })
    }
    await Promise.all(Array.from({ length: callers }, caller))
    return (done * 1000) / (performance.now() - begun)
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
