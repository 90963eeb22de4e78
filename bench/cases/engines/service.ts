import { randomBytes } from 'node:crypto'
import type { Bench, Case, CaseGroup } from '../../group.ts'
import { startEventStore } from '../../services/event-store.ts'
import { startMongo } from '../../services/mongodb.ts'
import { bulk } from '../bulk.ts'
import { create } from '../create.ts'
import { getGroup } from '../get.ts'
import { listGroup } from '../list.ts'

/** Few, because FerretDB scans and sorts all of them for each page and each change. */
const STONES = 100

/**
 * The cases of the embedded service, with an event store server and a database server. Recorded only, without targets.
 */
export const onServers: readonly CaseGroup[] = [create, getGroup(STONES), listGroup(STONES), bulk].map((group) => ({
  name: `${group.name}-on-servers`,
  isLong: true,
  prepare: async (bench) => (await group.prepare(await withServers(bench))).map(withoutTarget),
}))

function withoutTarget(benchCase: Case): Case {
  const { target: _, name, ...measured } = benchCase
  return { ...measured, name: `on servers: ${name}` }
}

/** Runs a service with engines that are started for it. */
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
