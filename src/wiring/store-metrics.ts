import { Counter, Histogram, type Registry } from 'prom-client'
import {
  EventsRemoved,
  LogClosed,
  OutcomeUnknown,
  StoreUnavailable,
  WrongRevision,
  type EventStore,
} from '../stores/ports/event-store.ts'
import { BytesMissing, type FileStore } from '../stores/ports/file-store.ts'
import { ConcurrencyConflict, type ReadStore } from '../stores/ports/read-store.ts'
import { withTiming, type TimedCalls } from '../stores/call-timing.ts'
import type { Vault } from '../stores/ports/vault.ts'

type TimedStores = {
  readonly log: EventStore
  readonly 'read-models': ReadStore
  readonly vault: Vault
  readonly files: FileStore
}

/** Durations and failures of store calls since the process started. */
export class StoreMetrics {
  readonly #durations: Histogram<'store' | 'engine' | 'operation'>
  readonly #failures: Counter<'store' | 'engine' | 'operation' | 'error'>

  constructor(registry: Registry) {
    this.#durations = new Histogram({
      name: 'adamant_store_duration_seconds',
      help: 'Duration of store calls in seconds, including failed ones',
      labelNames: ['store', 'engine', 'operation'],
      buckets: BUCKETS,
      registers: [registry],
    })
    this.#failures = new Counter({
      name: 'adamant_store_failures_total',
      help: 'Failed store calls by kind of failure',
      labelNames: ['store', 'engine', 'operation', 'error'],
      registers: [registry],
    })
  }

  /** Wraps a store so that its calls are timed. @param engine display name */
  instrument<Name extends keyof TimedStores>(store: Name, engine: string, port: TimedStores[Name]): TimedStores[Name] {
    for (const operation of operationsIn(CALLS[store])) {
      this.#durations.zero({ store, engine, operation })
      for (const error of ERROR_LABELS) this.#failures.inc({ store, engine, operation, error }, 0)
    }
    return withTiming<TimedStores[Name]>(port, CALLS[store], (operation) => {
      const labels = { store, engine, operation }
      return (seconds, error) => {
        this.#durations.observe(labels, seconds)
        if (error === undefined || error instanceof WrongRevision || error instanceof EventsRemoved) return
        this.#failures.inc({ ...labels, error: errorLabelOf(error) })
      }
    })
  }
}

/** Upper bounds in seconds, from a lookup in memory to what every caller has given up on. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const operationsIn = (calls: TimedCalls): readonly string[] =>
  Object.values(calls).flatMap((call) => (typeof call === 'string' ? [call] : operationsIn(call)))

/** Of a build, however it was opened. */
const BUILD_CALLS = { load: 'load', write: 'write' } as const

/**
 * Calls by method, with the name of the operation in metrics: those whose duration shows how a store performs, so no long waits and no
 * streamed reads.
 */
const CALLS = {
  log: { append: 'append', appendMany: 'appendMany', readStream: 'read', head: 'head', eventAt: 'eventAt' },
  'read-models': {
    model: { get: 'get', find: 'find', count: 'count' },
    live: BUILD_CALLS,
    begin: BUILD_CALLS,
    beginPendingBuild: BUILD_CALLS,
    openPendingBuild: BUILD_CALLS,
  },
  vault: {
    put: 'put',
    readSecret: 'read',
    receipts: 'receipts',
    end: 'end',
    nextMail: 'nextMail',
    removeMail: 'removeMail',
    expired: 'expired',
  },
  files: { receive: { keep: 'keep' }, readFile: 'read', remove: 'remove' },
} as const satisfies {
  readonly [Name in keyof TimedStores]: TimedCalls & { readonly [Call in keyof TimedStores[Name]]?: unknown }
}

/** Our own labels, so that no text of a server becomes one. WrongRevision and EventsRemoved are not failures of a store. */
const FAILURES = [
  { label: 'LogClosed', type: LogClosed },
  { label: 'Outdated', type: ConcurrencyConflict },
  { label: 'StoreUnavailable', type: StoreUnavailable },
  { label: 'OutcomeUnknown', type: OutcomeUnknown },
  { label: 'BytesMissing', type: BytesMissing },
]

const OTHER = 'other'

const ERROR_LABELS = [...FAILURES.map(({ label }) => label), OTHER]

const errorLabelOf = (error: unknown): string => FAILURES.find(({ type }) => error instanceof type)?.label ?? OTHER
