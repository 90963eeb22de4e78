import { createApp } from '../http/kit/app.ts'
import { metricsResource, type Metric } from '../http/health/health.ts'
import { listen, type Listening } from '../http/kit/server.ts'
import type { Installation } from './installation.ts'

/**
 * Listens on METRICS_PORT, where that is set: for whoever reaches the port, and for nothing but `/metrics`. Every role
 * has it, so that a process that only projects is watched too.
 */
export async function listenForMetrics(
  { settings, log }: Installation,
  metrics: () => Promise<readonly Metric[]>,
): Promise<Listening | undefined> {
  const { METRICS_PORT, HOST, TRUST_PROXY } = settings
  if (METRICS_PORT === undefined) return undefined
  const app = createApp({ resources: [metricsResource(metrics, false)], log, trustProxy: TRUST_PROXY })
  return listen(() => app.callback(), HOST, METRICS_PORT)
}
