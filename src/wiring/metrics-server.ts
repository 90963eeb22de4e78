import { readMetricsOnTheirPort } from '../http/health/metrics.ts'
import { errorLog } from '../http/kit/errors.ts'
import { createApp } from '../http/app.ts'
import { listen, type Listening } from '../http/kit/server.ts'
import type { Installation } from './installation.ts'

/**
 * Listens on METRICS_PORT, where that is set: for whoever reaches the port, and for nothing but `/metrics`. Every role
 * has it, so that a process that only projects is watched too.
 */
export async function listenForMetrics(
  { settings, log }: Installation,
  text: () => Promise<string>,
): Promise<Listening | undefined> {
  const { METRICS_PORT, HOST, TRUST_PROXY } = settings
  if (METRICS_PORT === undefined) return undefined
  const options = { log: errorLog(log), trustProxy: TRUST_PROXY }
  const app = createApp([readMetricsOnTheirPort], { metrics: { text } }, options)
  return listen(() => app.callback(), HOST, METRICS_PORT)
}
