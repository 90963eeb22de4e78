import type { Metric } from '../http/health/metrics.ts'
import { Histogram } from '../runtime/histogram.ts'
import {
  LogClosed,
  OutcomeUnknown,
  StoreUnavailable,
  WrongRevision,
  type EventStore,
} from '../stores/ports/event-store.ts'
import { BytesMissing, type Files } from '../stores/ports/files.ts'
import { Outdated, type ReadStore } from '../stores/ports/read-store.ts'
import { timed, type TimedCalls } from '../stores/timed.ts'
import type { Vault } from '../stores/ports/vault.ts'

/** What an installation asks of its stores. */
type Ports = {
  readonly log: EventStore
  readonly 'read-models': ReadStore
  readonly vault: Vault
  readonly files: Files
}

/** Calls whose time says how a store is: what waits for something to happen, or is read piece by piece, is not among them. */
const CALLS = {
  log: { append: 'itself', appendMany: 'itself', read: 'itself', head: 'itself', eventAt: 'itself' },
  'read-models': {
    model: { get: 'itself', find: 'itself', count: 'itself' },
    live: { load: 'itself', write: 'itself' },
    begin: { load: 'itself', write: 'itself' },
  },
  vault: {
    put: 'itself',
    read: 'itself',
    receipts: 'itself',
    end: 'itself',
    nextMail: 'itself',
    removeMail: 'itself',
    expired: 'itself',
  },
  files: { receive: { keep: 'itself' }, read: 'itself', remove: 'itself' },
} as const satisfies { readonly [Name in keyof Ports]: TimedCalls & { readonly [Call in keyof Ports[Name]]?: unknown } }

/** Of our own, so that no text of a server becomes a label. A lost race is none: commands count it. */
const FAILURES = [LogClosed, Outdated, StoreUnavailable, OutcomeUnknown, BytesMissing]

type Measured = { readonly labels: Record<'store' | 'engine' | 'operation', string>; readonly durations: Histogram }

/** How long the stores take, call by call, since the process began. */
export class StoreTimes {
  readonly #measured = new Map<string, Measured>()
  readonly #failed = new Map<string, { readonly labels: Record<string, string>; count: number }>()

  /** The same store, timed. @param engine as people call it */
  of<Name extends keyof Ports>(store: Name, engine: string, port: Ports[Name]): Ports[Name] {
    return timed<Ports[Name]>(port, CALLS[store], (operation) => {
      let durations: Histogram | undefined
      return (seconds, error) => {
        // From the first call on: what was never asked has no line in `/metrics`.
        durations ??= this.#durations(store, engine, operation)
        durations.took(seconds)
        if (error !== undefined && !(error instanceof WrongRevision)) this.#fail({ store, engine, operation }, error)
      }
    })
  }

  metrics(): Metric[] {
    return [
      ...[...this.#measured.values()].map(({ labels, durations }): Metric => ({
        name: 'adamant_store_duration_seconds',
        help: 'Seconds until a store answers a call, whatever it answers',
        kind: 'histogram',
        value: durations.value,
        labels,
      })),
      ...[...this.#failed.values()].map(({ labels, count }): Metric => ({
        name: 'adamant_store_failures_total',
        help: 'Calls of a store that failed, by the kind of failure',
        kind: 'counter',
        value: count,
        labels,
      })),
    ]
  }

  #durations(store: string, engine: string, operation: string): Histogram {
    const key = `${store} ${operation}`
    let found = this.#measured.get(key)
    if (found === undefined) {
      found = { labels: { store, engine, operation }, durations: new Histogram() }
      this.#measured.set(key, found)
    }
    return found.durations
  }

  #fail(labels: Measured['labels'], error: unknown): void {
    const kind = FAILURES.find((failure) => error instanceof failure)?.name ?? 'other'
    const key = `${labels.store} ${labels.operation} ${kind}`
    const found = this.#failed.get(key) ?? { labels: { ...labels, error: kind }, count: 0 }
    found.count++
    this.#failed.set(key, found)
  }
}
