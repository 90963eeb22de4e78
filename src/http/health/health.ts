import { Counter, Histogram, type Registry } from 'prom-client'
import { z } from 'zod'
import { answer, ok } from '../kit/answer.ts'
import { anybody, endpoint, type Endpoint } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'
import type { Seen } from '../middleware/access-log.ts'

/** Seconds up to which a request counts for a bucket. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What an endpoint is counted by. */
type Served = Pick<Endpoint, 'name' | 'methods' | 'answers'>

/** Counts answered requests by endpoint, method and status: names of ours only, so that nobody can make more of them. */
export class RequestFigures {
  readonly #durations: Histogram<'endpoint' | 'method' | 'status'>
  readonly #bytes: Counter<'endpoint' | 'method' | 'status'>

  /** @param endpoints each is there from the start, with 0 answers of the status that it has where all is well */
  constructor(registry: Registry, endpoints: readonly Served[] = []) {
    const described = { labelNames: ['endpoint', 'method', 'status'] as const, registers: [registry] }
    this.#durations = new Histogram({
      name: 'adamant_http_request_duration_seconds',
      help: 'Seconds from the head of a request to the last of its answer',
      buckets: BUCKETS,
      ...described,
    })
    this.#bytes = new Counter({
      name: 'adamant_http_response_bytes_total',
      help: 'Bytes of the bodies of answers',
      ...described,
    })
    for (const { name, methods, answers } of endpoints) {
      const best = Math.min(...Object.keys(answers).map(Number))
      for (const method of methods) {
        const labels = { endpoint: name, method, status: best }
        this.#durations.zero(labels)
        this.#bytes.inc(labels, 0)
      }
    }
  }

  saw({ endpoint = 'none', method, status, milliseconds, bytes }: Seen): void {
    const labels = { endpoint, method: METHODS.has(method) ? method : 'other', status }
    this.#durations.observe(labels, milliseconds / 1000)
    this.#bytes.inc(labels, bytes)
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export type HealthServices = {
  readonly health: {
    /** What is not ready yet, each with its reason; empty when the service is ready. */
    waiting(): Promise<readonly string[]>
  }
}

const UNSTORED = { 'Cache-Control': 'no-store' }

export const isLive = endpoint({
  name: 'isLive',
  method: 'GET',
  path: '/health/live',
  about: 'Whether the process answers, for whoever starts it and starts it again.',
  who: anybody,
  family: platform,
  answers: { 200: { about: 'It does', schema: z.object({ status: z.literal('live') }), example: { status: 'live' } } },
  run: () => ok({ status: 'live' }, UNSTORED),
})

export const isReady = endpoint({
  name: 'isReady',
  method: 'GET',
  path: '/health/ready',
  about: 'Whether requests may be sent here, for whoever spreads them.',
  who: anybody,
  family: platform,
  answers: {
    200: { about: 'They may', schema: z.object({ status: z.literal('ready') }), example: { status: 'ready' } },
    503: {
      about: 'Not yet',
      schema: z.object({
        status: z.literal('waiting'),
        waiting: z.array(z.string()).describe('For what, in sentences.'),
      }),
      headers: { 'Retry-After': 'Seconds' },
      example: { status: 'waiting', waiting: ['the diamonds read model is behind the log'] },
    },
  },
  async run(_asked, { health }: HealthServices) {
    const waiting = await health.waiting()
    if (waiting.length === 0) return ok({ status: 'ready' }, UNSTORED)
    return answer(503, { status: 'waiting', waiting }, { ...UNSTORED, 'Retry-After': '1' })
  },
})
