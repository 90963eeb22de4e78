import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { scored } from '../fill.ts'
import type { Bench, Case, Group } from '../group.ts'
import { percentile, watch } from '../load/watch.ts'
import { copiedBare, rebuilt, type Gone } from '../rebuilding/processes.ts'
import { requestText } from '../request.ts'
import { appendStones } from '../scored-stones.ts'
import type { Service } from '../services/service.ts'
import { openSqliteEventStore } from '../../src/stores/sqlite/events.ts'

/** A rebuild of the diamonds while the service runs, compared with the upper limit, and its effect on requests. */
export const rebuild: Group = { name: 'rebuild', long: true, prepare: (bench) => prepare(bench, 100_000) }
export const rebuildOfAMillion: Group = {
  name: 'rebuild-1m',
  long: true,
  prepare: (bench) => prepare(bench, 1_000_000),
}

/** Greater than all ids that the service allocates. */
const FIRST = 10_000_001
/** Milliseconds from a response to the next request: latency is measured, not throughput. */
const PAUSE = 5
/** Milliseconds between checks whether the rebuild still runs. */
const TURN = 250
const P99 = 0.99

type Inventory = { readonly service: Service; readonly dataDir: string; readonly stones: number }

async function prepare(bench: Bench, events: number): Promise<Case[]> {
  const small = await inventory(bench, events / 10)
  const large = await inventory(bench, events)
  const size = events.toLocaleString('en')
  let last: Gone | undefined
  const ours = async () => each((last = await rebuilt(large.dataDir)))
  return [
    {
      name: `rebuild of ${size} events, per event: against the bare ceiling`,
      unit: 'us',
      ours,
      other: async () => each(await copiedBare(large.dataDir, FIRST)),
      target: { most: 2 },
    },
    {
      name: `rebuild, peak memory: ${size} events against a tenth`,
      unit: 'MB',
      ours: async () => (last ?? (await rebuilt(large.dataDir))).megabytes,
      other: async () => (await rebuilt(small.dataDir)).megabytes,
      // The read store keeps up to 64 MiB of a build in memory, which a smaller build does not fill.
      ...(events >= 1_000_000 && { target: { most: 1.2 } }),
    },
    ...['/v4/diamond/{id}', '/v4/diamond'].map((path): Case => ({
      name: `GET ${path}, p99 during a rebuild: against idle`,
      unit: 'us',
      ours: () => whileRebuilding(large, path),
      other: async () => percentile(await taken(large, path, bench.seconds * 1000), P99),
      target: { most: 2 },
    })),
  ]
}

const each = ({ events, seconds }: Gone) => (seconds / events) * 1e6

/** Stones of the service's account with scores, all projected to the read models. */
async function inventory(bench: Bench, events: number): Promise<Inventory> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-bench-'))
  bench.finally(async () => rmSync(dataDir, { recursive: true }))
  const service = await bench.adamant({ DATA_DIR: dataDir })
  const stones = events / 2
  const owner = await ownerOf(service, dataDir)
  const store = openSqliteEventStore(join(dataDir, 'events.db'))
  await appendStones(store, stones, owner, FIRST)
  await store.close()
  await shown(service, FIRST + stones - 1)
  // The service computes the scores again, because the appended ones are not from its model.
  await scored(service)
  return { service, dataDir, stones }
}

/** The account behind the token: the owner of the first stone created with it. */
async function ownerOf({ port, token }: Service, dataDir: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/v4/diamond`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sku: 'BENCH', cutShape: 'Round', carat: 1 }),
  })
  if (!answer.ok) throw new Error(`creating a stone returned status ${answer.status}: ${await answer.text()}`)
  const store = openSqliteEventStore(join(dataDir, 'events.db'))
  try {
    for await (const { data } of store.readAll('start', { prefixes: ['diamond-'] })) return Number(data['owner'])
  } finally {
    await store.close()
  }
  throw new Error('the event log has no stone')
}

/** Milliseconds that the service may take to project events appended directly to its log. */
const FOLDING_TIME = 30 * 60_000

async function shown({ port, token }: Service, id: number): Promise<void> {
  const deadline = Date.now() + FOLDING_TIME
  while (Date.now() < deadline) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`http://127.0.0.1:${port}/v4/diamond?f[id][]=${id}`, { headers })
    if (answer.status === 200) return
    await pause(200)
  }
  throw new Error('the stones were not shown in time')
}

/** @returns the latency of each request in microseconds @throws if any status is not 2xx */
function taken({ service, stones }: Inventory, path: string, milliseconds: number): Promise<number[]> {
  const request = requestText(service, { method: 'GET', path: path.replace('{id}', String(FIRST + stones / 2)) })
  return watch(service.port, { request, pause: PAUSE }, performance.now() + milliseconds)
}

/** Includes all requests from start to end of the process, also during the switch to the new read model. */
async function whileRebuilding(inventory: Inventory, path: string): Promise<number> {
  const over = new AbortController()
  const rebuilding = rebuilt(inventory.dataDir).finally(() => over.abort())
  const all: number[] = []
  while (!over.signal.aborted) all.push(...(await taken(inventory, path, TURN)))
  await rebuilding
  return percentile(all, P99)
}
