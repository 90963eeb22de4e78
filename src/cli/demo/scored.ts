import { progressBar } from '../progress-bar.ts'

/** How many stones wait for their scores: what the service tells at /metrics. */
const WAITING = /^adamant_scores_waiting (\d+)$/m
/** Milliseconds between two looks. */
const INTERVAL = 250

/**
 * Waits until every stone has its scores.
 * @returns seconds that it took, undefined for a service that computes no scores
 */
export async function waitUntilScored(address: string, stones: number): Promise<number | undefined> {
  const started = performance.now()
  let waiting = await stonesWaiting(address)
  if (waiting === undefined) return undefined
  const bar = progressBar('scoring', stones, 'stones')
  while (waiting !== undefined && waiting > 0) {
    bar.update(stones - waiting)
    await new Promise<void>((done) => setTimeout(done, INTERVAL))
    waiting = await stonesWaiting(address)
  }
  bar.update(stones)
  bar.end()
  return (performance.now() - started) / 1000
}

async function stonesWaiting(address: string): Promise<number | undefined> {
  const metrics = await (await fetch(`${address}/metrics`)).text()
  const waiting = WAITING.exec(metrics)?.[1]
  return waiting === undefined ? undefined : Number(waiting)
}
