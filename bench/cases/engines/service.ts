import { randomBytes } from 'node:crypto'
import type { Bench, Case, Group } from '../../group.ts'
import { startEventStore } from '../../services/event-store.ts'
import { startMongo } from '../../services/mongodb.ts'
import { bulk } from '../bulk.ts'
import { create } from '../create.ts'
import { getAmong } from '../get.ts'
import { listAmong } from '../list.ts'

/** FerretDB sorts and looks through all of them for one page, and for one change. */
const STONES = 100

/** The cases of the embedded service, on an event store and a read model that are servers. Recorded: no bound holds there. */
export const onServers: readonly Group[] = [create, getAmong(STONES), listAmong(STONES), bulk].map((group) => ({
  name: `${group.name}-on-servers`,
  long: true,
  prepare: async (bench) => (await group.prepare(await withServers(bench))).map(recorded),
}))

function recorded(of: Case): Case {
  const { target: _, name, ...measured } = of
  return { ...measured, name: `on servers: ${name}` }
}

/** The same, with a service whose engines are started for it. */
async function withServers(bench: Bench): Promise<Bench> {
  const events = await startEventStore()
  bench.finally(() => events.stop())
  const reads = await startMongo()
  bench.finally(() => reads.stop())
  const engines = {
    EVENT_STORE: events.url,
    READ_MODEL: reads.database,
    MASTER_KEY: randomBytes(32).toString('base64'),
  }
  return { ...bench, adamant: (settings) => bench.adamant({ ...settings, ...engines }) }
}
