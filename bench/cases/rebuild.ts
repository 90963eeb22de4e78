import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { waitUntilScored } from '../fill.ts'
import type { Bench, Case, CaseGroup } from '../group.ts'
import { percentile, measureLatencies } from '../load/probe.ts'
import { runBareCopy, runRebuild, type ProcessResult } from '../rebuilding/processes.ts'
import { requestText } from '../request.ts'
import { appendStones } from '../scored-stones.ts'
import type { MeasuredService } from '../services/service.ts'
import { openSqliteEventStore } from '../../src/stores/sqlite/events.ts'

/** A rebuild of the diamonds while the service runs, compared with the upper limit, and its effect on requests. */
export const rebuild: CaseGroup = { name: 'rebuild', isLong: true, prepare: (bench) => prepare(bench, 100_000) }
export const rebuildOfAMillion: CaseGroup = {
  name: 'rebuild-1m',
  isLong: true,
  prepare: (bench) => prepare(bench, 1_000_000),
}

/** Greater than all ids that the service allocates. */
const FIRST_ID = 10_000_001
/** Milliseconds from a response to the next request: latency is measured, not throughput. */
const PAUSE_MS = 5
/** Milliseconds between checks whether the rebuild still runs. */
const CHECK_INTERVAL_MS = 250
const P99 = 0.99

type RebuildInventory = { readonly service: MeasuredService; readonly dataDir: string; readonly stones: number }

async function prepare(bench: Bench, events: number): Promise<Case[]> {
  const small = await createInventory(bench, events / 10)
  const large = await createInventory(bench, events)
  const size = events.toLocaleString('en')
  let last: ProcessResult | undefined
  const ours = async () => microsecondsPerEvent((last = await runRebuild(large.dataDir)))
  return [
    {
      name: `rebuild of ${size} events, per event: against the bare ceiling`,
      unit: 'us',
      ours,
      baseline: async () => microsecondsPerEvent(await runBareCopy(large.dataDir, FIRST_ID)),
      target: { max: 2 },
    },
    {
      name: `rebuild, peak memory: ${size} events against a tenth`,
      unit: 'MB',
      ours: async () => (last ?? (await runRebuild(large.dataDir))).peakMegabytes,
      baseline: async () => (await runRebuild(small.dataDir)).peakMegabytes,
      // The read store keeps up to 64 MiB of a build in memory, which a smaller build does not fill.
      ...(events >= 1_000_000 && { target: { max: 1.2 } }),
    },
    ...['/v4/diamond/{id}', '/v4/diamond'].map((path): Case => ({
      name: `GET ${path}, p99 during a rebuild: against idle`,
      unit: 'us',
      ours: () => p99DuringRebuild(large, path),
      baseline: async () => percentile(await getLatencies(large, path, bench.seconds * 1000), P99),
      target: { max: 2 },
    })),
  ]
}

const microsecondsPerEvent = ({ events, seconds }: ProcessResult) => (seconds / events) * 1e6

/** Stones of the service's account with scores, all projected to the read models. */
async function createInventory(bench: Bench, events: number): Promise<RebuildInventory> {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-bench-'))
  bench.finally(async () => rmSync(dataDir, { recursive: true }))
  const service = await bench.adamant({ DATA_DIR: dataDir })
  const stones = events / 2
  const owner = await ownerOf(service, dataDir)
  const store = openSqliteEventStore(join(dataDir, 'events.db'))
  await appendStones(store, stones, owner, FIRST_ID)
  await store.close()
  await waitUntilListed(service, FIRST_ID + stones - 1)
  // The service computes the scores again, because the appended ones are not from its model.
  await waitUntilScored(service)
  return { service, dataDir, stones }
}

/** The account behind the token: the owner of the first stone created with it. */
async function ownerOf({ port, token }: MeasuredService, dataDir: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/v4/diamond`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sku: 'BENCH', cutShape: 'Round', carat: 1 }),
  })
  if (!response.ok) throw new Error(`creating a stone returned status ${response.status}: ${await response.text()}`)
  const store = openSqliteEventStore(join(dataDir, 'events.db'))
  try {
    for await (const { data } of store.readAll('start', { prefixes: ['diamond-'] })) return Number(data['owner'])
  } finally {
    await store.close()
  }
  throw new Error('the event log has no stone')
}

/** Milliseconds that the service may take to project events appended directly to its log. */
const PROJECTION_TIMEOUT_MS = 30 * 60_000

async function waitUntilListed({ port, token }: MeasuredService, id: number): Promise<void> {
  const deadline = Date.now() + PROJECTION_TIMEOUT_MS
  while (Date.now() < deadline) {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`http://127.0.0.1:${port}/v4/diamond?f[id][]=${id}`, { headers })
    if (response.status === 200) return
    await pause(200)
  }
  throw new Error('the stones were not shown in time')
}

/** @returns the latency of each request in microseconds @throws if any status is not 2xx */
function getLatencies({ service, stones }: RebuildInventory, path: string, milliseconds: number): Promise<number[]> {
  const request = requestText(service, { method: 'GET', path: path.replace('{id}', String(FIRST_ID + stones / 2)) })
  return measureLatencies(service.port, { request, pauseMs: PAUSE_MS }, performance.now() + milliseconds)
}

/** Includes all requests from start to end of the process, also during the switch to the new read model. */
async function p99DuringRebuild(inventory: RebuildInventory, path: string): Promise<number> {
  const ended = new AbortController()
  const rebuilding = runRebuild(inventory.dataDir).finally(() => ended.abort())
  const latencies: number[] = []
  while (!ended.signal.aborted) latencies.push(...(await getLatencies(inventory, path, CHECK_INTERVAL_MS)))
  await rebuilding
  return percentile(latencies, P99)
}
