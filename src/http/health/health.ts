import { Counter, Histogram, type Registry } from 'prom-client'
import { z } from 'zod'
import { createResponse, ok } from '../kit/response.ts'
import { publicAccess, endpoint, type Endpoint } from '../kit/endpoint.ts'
import { platformGroup } from '../kit/errors.ts'
import type { RequestLogEntry } from '../middleware/access-log.ts'

/** Histogram buckets in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

type MeasuredEndpoint = Pick<Endpoint, 'operationId' | 'methods' | 'responses'>

/** Request metrics by endpoint, method and status, and refused connections. Clients cannot create new label values. */
export class RequestMetrics {
  readonly refusedConnections: Counter
  readonly #durations: Histogram<'endpoint' | 'method' | 'status'>
  readonly #bytes: Counter<'endpoint' | 'method' | 'status'>

  /** @param endpoints each starts with a count of 0 for its success status */
  constructor(registry: Registry, endpoints: readonly MeasuredEndpoint[] = []) {
    const labelOptions = { labelNames: ['endpoint', 'method', 'status'] as const, registers: [registry] }
    this.#durations = new Histogram({
      name: 'adamant_http_request_duration_seconds',
      help: 'Seconds from the request head to the end of the response',
      buckets: BUCKETS,
      ...labelOptions,
    })
    this.#bytes = new Counter({
      name: 'adamant_http_response_bytes_total',
      help: 'Bytes of response bodies',
      ...labelOptions,
    })
    this.refusedConnections = new Counter({
      name: 'adamant_connections_refused_total',
      help: 'Connections closed because of a limit, in total or for one address',
      registers: [registry],
    })
    for (const { operationId, methods, responses } of endpoints) {
      const successStatus = Math.min(...Object.keys(responses).map(Number))
      for (const method of methods) {
        const labels = { endpoint: operationId, method, status: successStatus }
        this.#durations.zero(labels)
        this.#bytes.inc(labels, 0)
      }
    }
  }

  record({ endpoint = 'none', method, status, durationMs, responseBytes }: RequestLogEntry): void {
    const labels = { endpoint, method: METHODS.has(method) ? method : 'other', status }
    this.#durations.observe(labels, durationMs / 1000)
    this.#bytes.inc(labels, responseBytes)
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export type HealthServices = {
  readonly health: {
    /** Empty if the service is ready. */
    notReadyReasons(): Promise<readonly string[]>
  }
}

const NO_STORE = { 'Cache-Control': 'no-store' }

export const livenessCheck = endpoint({
  operationId: 'isLive',
  method: 'GET',
  path: '/health/live',
  summary: 'Liveness check, for process supervisors',
  auth: publicAccess,
  group: platformGroup,
  responses: {
    200: {
      description: 'The process is running',
      schema: z.object({ status: z.literal('live') }),
      example: { status: 'live' },
    },
  },
  handler: () => ok({ status: 'live' }, NO_STORE),
})

export const readinessCheck = endpoint({
  operationId: 'isReady',
  method: 'GET',
  path: '/health/ready',
  summary: 'Readiness check, for load balancers',
  auth: publicAccess,
  group: platformGroup,
  responses: {
    200: {
      description: 'Ready for requests',
      schema: z.object({ status: z.literal('ready') }),
      example: { status: 'ready' },
    },
    503: {
      description: 'Not ready yet',
      schema: z.object({
        status: z.literal('waiting'),
        waiting: z.array(z.string()).describe('The reasons.'),
      }),
      headers: { 'Retry-After': 'Seconds until the next check' },
      example: { status: 'waiting', waiting: ['the diamonds read model is behind the log'] },
    },
  },
  async handler(_ctx, { health }: HealthServices) {
    const reasons = await health.notReadyReasons()
    if (reasons.length === 0) return ok({ status: 'ready' }, NO_STORE)
    return createResponse(503, { status: 'waiting', waiting: reasons }, { ...NO_STORE, 'Retry-After': '1' })
  },
})
