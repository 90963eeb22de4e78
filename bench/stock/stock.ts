import { setTimeout as pause } from 'node:timers/promises'
import { createBulk, isScored } from '../fill.ts'
import { measureLatencies, percentile } from '../load/probe.ts'
import { requestText } from '../request.ts'
import { startAdamant, type Adamant } from '../services/adamant.ts'
import { cpuSeconds } from '../services/service.ts'
import { bulksByLot } from './stones.ts'

/** Milliseconds between two GETs, between two looks at the metrics, and during which GETs are measured at rest. */
const PAUSE_MS = 5
const POLL_MS = 5_000
const REST_MS = 30_000

const MAX_SECONDS = 30 * 60
export const MAX_P99_RATIO = 2

/**
 * Creates a stock of stones that all have other proportions. Prints how long the service, on all cores, takes to score them, in how much
 * processor time, and how long GETs take meanwhile.
 * @returns whether the last stone is scored within half an hour, and the p99 of GETs is within twice of that at rest
 */
export async function measureStock(count: number, main: string | undefined): Promise<boolean> {
  const adamant = await startAdamant({ RATE_LIMIT: '0' }, main, 'all')
  try {
    const { getFor, atRest } = await measureAtRest(adamant)
    const cpuBefore = await cpuSeconds(adamant)
    const started = performance.now()
    await createStock(adamant, count)
    const created = performance.now()
    const whileScoring: number[] = []
    while (!(await isScored(adamant))) whileScoring.push(...(await getFor(POLL_MS)))
    const seconds = (performance.now() - started) / 1000
    const cpu = (await cpuSeconds(adamant)) - cpuBefore
    const ratio = percentile(whileScoring, 0.99) / percentile(atRest, 0.99)
    console.log(`| ${count} stones, all with other proportions | |
| --- | --- |
| created after | ${((created - started) / 1000).toFixed(0)} s |
| all scored after | ${seconds.toFixed(0)} s |
| processor time | ${((1000 * cpu) / count).toFixed(1)} ms a stone |
| GET by id at rest | ${describe(atRest)} |
| GET by id while scoring | ${describe(whileScoring)} |
| ratio of the 99th percentiles | ${ratio.toFixed(2)} |`)
    return seconds <= MAX_SECONDS && ratio <= MAX_P99_RATIO
  } finally {
    await adamant.stop()
  }
}

type RestMeasurement = {
  /** Measures GETs of a stone for some milliseconds. */
  readonly getFor: (milliseconds: number) => Promise<number[]>
  readonly atRest: readonly number[]
}

/** Creates a stone and measures GETs of it. The code is compiled while the first are measured, which do not count. */
export async function measureAtRest(adamant: Adamant): Promise<RestMeasurement> {
  const [first] = await createBulk(adamant, 'v4', JSON.stringify({ entries: [{ sku: 'A', cutShape: 2, carat: 1 }] }))
  await pause(POLL_MS)
  const request = requestText(adamant, { method: 'GET', path: `/v4/diamond/${first?.id}` })
  const getFor = (milliseconds: number) =>
    measureLatencies(adamant.port, { request, pauseMs: PAUSE_MS }, performance.now() + milliseconds)
  await getFor(REST_MS)
  return { getFor, atRest: await getFor(REST_MS) }
}

export function describe(latencies: readonly number[]): string {
  const [median, p99] = [0.5, 0.99].map((share) => percentile(latencies, share).toFixed(0))
  return `median ${median} us, 99th percentile ${p99} us, of ${latencies.length}`
}

/** With two requests at a time. */
async function createStock(adamant: Adamant, count: number): Promise<void> {
  const bulks = bulksByLot(count)
  const send = async () => {
    for (let next = bulks.next(); next.done !== true; next = bulks.next())
      await createBulk(adamant, 'v4', JSON.stringify({ entries: next.value }))
  }
  await Promise.all([send(), send()])
}
