import { Histogram } from '../../runtime/histogram.ts'
import type { Seen } from '../kit/seen.ts'
import type { Metric } from './metrics.ts'

/** Seconds up to which a request counts for a bucket. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

type Counted = { readonly durations: Histogram; bytes: number }

/** Counts answered requests by endpoint, method and status: names of ours only, so that nobody can make more of them. */
export class RequestFigures {
  readonly #counted = new Map<string, Map<string, Counted>>()

  saw({ endpoint = 'none', method, status, milliseconds, bytes }: Seen): void {
    const counted = this.#of(endpoint, `${METHODS.has(method) ? method : 'other'} ${status}`)
    counted.durations.took(milliseconds / 1000)
    counted.bytes += bytes
  }

  metrics(): Metric[] {
    const all = [...this.#counted].flatMap(([endpoint, by]) =>
      [...by].map(([key, counted]) => {
        const [method = '', status = ''] = key.split(' ')
        return { labels: { endpoint, method, status }, counted }
      }),
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

  #of(endpoint: string, key: string): Counted {
    let by = this.#counted.get(endpoint)
    if (by === undefined) this.#counted.set(endpoint, (by = new Map<string, Counted>()))
    let counted = by.get(key)
    if (counted === undefined) by.set(key, (counted = { durations: new Histogram(BUCKETS), bytes: 0 }))
    return counted
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
