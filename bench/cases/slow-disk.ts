import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fill, waitUntilScored } from '../fill.ts'
import type { Bench, Case, CaseGroup, Measurement } from '../group.ts'
import { percentile } from '../load/probe.ts'
import { measureRate } from '../rate.ts'
import { requestText, type BenchRequest } from '../request.ts'
import type { Adamant } from '../services/adamant.ts'
import type { MeasuredService } from '../services/service.ts'
import { stones } from '../stones.ts'
import { sharesAndReveals, measureSecretsRate } from './secrets.ts'

/** Reads and writes on a disk whose syncs take 20 ms, as those of some network volumes. */
export const slowDisk: CaseGroup = { name: 'slow-disk', isLong: true, prepare }

const SYNC_MS = 20
const STONES = 500
/** Milliseconds between two of the measured reads. */
const PAUSE_MS = 5

async function prepare(bench: Bench): Promise<Case[]> {
  const library = compileSlowDisk()
  if (library === undefined) {
    console.error('LEFT OUT: slow-disk needs a C compiler (cc), which is not installed')
    return []
  }
  const settings = { LD_PRELOAD: library, SLOW_DISK_MS: String(SYNC_MS), RATE_LIMIT: '0' }
  const [adamant, baseline] = [await bench.adamant(settings), await bench.baseline(settings)]
  const reads = { adamant: await readOf(adamant), baseline: await readOf(baseline) }
  const latencyCase = (writers: number, name: string, max: number | undefined): Case => ({
    name: `GET by id ${name}, median`,
    unit: 'us',
    ours: medianLatency(bench, adamant, reads.adamant, writers),
    baseline: medianLatency(bench, baseline, reads.baseline, writers),
    ...(max !== undefined && { limit: { max } }),
  })
  const createCase = (connections: number, limit: NonNullable<Case['limit']>): Case => ({
    name: `create, ${connections} connection${connections === 1 ? '' : 's'}`,
    unit: 'requests/s',
    ours: measureRate(bench, adamant, connections, CREATES),
    baseline: measureRate(bench, baseline, connections, CREATES),
    limit,
  })
  const cases = [
    latencyCase(0, 'alone', undefined),
    latencyCase(1, 'beside one connection that creates', 5_000),
    latencyCase(20, 'beside 20', 10_000),
    createCase(1, { min: 38 }),
    createCase(20, { min: 650 }),
    {
      name: 'share + reveal, 20 connections',
      unit: 'requests/s',
      ours: secretsRate(bench, adamant),
      ...(isAdamant(baseline) && { baseline: secretsRate(bench, baseline) }),
    } as const,
  ]
  return cases.map((each) => ({ ...each, name: `syncs of ${SYNC_MS} ms: ${each.name}` }))
}

const secretsRate = (bench: Bench, service: Adamant) =>
  measureSecretsRate(bench, service, sharesAndReveals(service, ''))

/** The plain service has no secrets. */
const isAdamant = (service: MeasuredService): service is Adamant => 'basic' in service

const CREATES = stones(STONES).map((stone): BenchRequest => ({
  method: 'POST',
  path: '/v4/diamond',
  json: JSON.stringify(stone),
}))

/** @returns the path of the library that delays syncs; undefined without a compiler */
function compileSlowDisk(): string | undefined {
  const folder = fileURLToPath(new URL('../../.tmp/bench', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const library = `${folder}/slow-disk.so`
  const source = fileURLToPath(new URL('../slow-disk.c', import.meta.url))
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { stdio: 'inherit' })
    return library
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The request for one of the service's stones. */
async function readOf(service: MeasuredService): Promise<string> {
  const [stone] = await fill(service, STONES)
  await waitUntilScored(service)
  return requestText(service, { method: 'GET', path: `/v4/diamond/${stone?.id}` })
}

/** The median latency of a GET in microseconds while this many connections create stones. */
function medianLatency(bench: Bench, service: MeasuredService, request: string, writers: number): Measurement {
  const requests = CREATES.map((create) => requestText(service, create))
  const load = { port: service.port, connections: writers, seconds: bench.seconds, requests }
  return async () => {
    const { probeLatenciesUs } = await bench.generator.measure({ ...load, probe: { request, pauseMs: PAUSE_MS } })
    return percentile(probeLatenciesUs, 0.5)
  }
}
