import { Histogram } from '../../runtime/histogram.ts'
import type { Endpoint } from '../kit/endpoint.ts'
import type { Seen } from '../middleware/access-log.ts'
import type { Metric } from './metrics.ts'

/** Seconds up to which a request counts for a bucket. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

type Counted = { readonly durations: Histogram; bytes: number }
/** By endpoint, method and status: maps in maps, since a key put together of three would cost each request a text. */
type ByEndpoint = Map<string, Map<string, Map<number, Counted>>>

/** What an endpoint is counted by. */
type Served = Pick<Endpoint, 'name' | 'methods' | 'answers'>

/** Counts answered requests by endpoint, method and status: names of ours only, so that nobody can make more of them. */
export class RequestFigures {
  readonly #counted: ByEndpoint = new Map()

  /** @param endpoints each is there from the start, with 0 answers of the status that it has where all is well */
  constructor(endpoints: readonly Served[] = []) {
    for (const { name, methods, answers } of endpoints) {
      const best = Math.min(...Object.keys(answers).map(Number))
      for (const method of methods) this.#of(name, method, best)
    }
  }

  saw({ endpoint = 'none', method, status, milliseconds, bytes }: Seen): void {
    const counted = this.#of(endpoint, METHODS.has(method) ? method : 'other', status)
    counted.durations.took(milliseconds / 1000)
    counted.bytes += bytes
  }

  metrics(): Metric[] {
    const all = [...this.#counted].flatMap(([endpoint, methods]) =>
      [...methods].flatMap(([method, statuses]) =>
        [...statuses].map(([status, counted]) => ({ labels: { endpoint, method, status: String(status) }, counted })),
      ),
    )
    return [
      ...all.map(({ labels, counted }): Metric => ({
        name: 'adamant_http_request_duration_seconds',
        help: 'Seconds from the head of a request to the last of its answer',
        kind: 'histogram',
        value: counted.durations.value,
        labels,
      })),
      ...all.map(({ labels, counted }): Metric => ({
        name: 'adamant_http_response_bytes_total',
        help: 'Bytes of the bodies of answers',
        kind: 'counter',
        value: counted.bytes,
        labels,
      })),
    ]
  }

  #of(endpoint: string, method: string, status: number): Counted {
    const found = this.#counted.get(endpoint)?.get(method)?.get(status)
    if (found !== undefined) return found
    const methods = this.#counted.get(endpoint) ?? new Map<string, Map<number, Counted>>()
    const statuses = methods.get(method) ?? new Map<number, Counted>()
    const counted = { durations: new Histogram(BUCKETS), bytes: 0 }
    this.#counted.set(endpoint, methods.set(method, statuses.set(status, counted)))
    return counted
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
