import { progressBar } from '../progress-bar.ts'

/** What the service tells at /metrics. */
const SCORED = /^adamant_scores_total (\d+)$/m
const SHOWN_LAG = /^adamant_projection_lag (\d+)$/m
/** Milliseconds between two looks. */
const INTERVAL = 100

/**
 * Waits until every stone has its scores, and shows them: all were appended, and the read model is at the head of the log.
 * @returns seconds that it took
 */
export async function waitUntilScored(address: string, stones: number): Promise<number> {
  const started = performance.now()
  const bar = progressBar('scoring', stones, 'stones')
  for (;;) {
    const metrics = await (await fetch(`${address}/metrics`)).text()
    const value = (pattern: RegExp) => Number(pattern.exec(metrics)?.[1])
    bar.update(value(SCORED))
    if (value(SCORED) >= stones && value(SHOWN_LAG) === 0) break
    await new Promise<void>((done) => setTimeout(done, INTERVAL))
  }
  bar.end()
  return (performance.now() - started) / 1000
}
