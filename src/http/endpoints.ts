import { listCutShapes, readConstants, readCutShape } from './constants/constants.ts'
import { isLive, isReady, type HealthServices } from './health/health.ts'
import { readMetrics, type MetricsServices } from './health/metrics.ts'
import type { Endpoint } from './kit/endpoint.ts'

/** What requests are answered from, by subject. */
export type Services = HealthServices & MetricsServices

/** All that the service can be asked for over HTTP. */
export const ENDPOINTS: readonly Endpoint<Services>[] = [
  readConstants,
  listCutShapes,
  readCutShape,
  isLive,
  isReady,
  readMetrics,
]
