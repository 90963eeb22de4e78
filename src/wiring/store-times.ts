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

type Measured = {
  readonly labels: Record<'store' | 'engine' | 'operation', string>
  readonly durations: Histogram
  /** By the kind of failure; each is there from the start, at 0. */
  readonly failures: Map<string, number>
}

/** How long the stores take, call by call, since the process began. */
export class StoreTimes {
  readonly #measured = new Map<string, Measured>()

  /** The same store, timed. @param engine as people call it */
  of<Name extends keyof Ports>(store: Name, engine: string, port: Ports[Name]): Ports[Name] {
    for (const operation of operationsIn(CALLS[store])) this.#begin({ store, engine, operation })
    return timed<Ports[Name]>(port, CALLS[store], (operation) => {
      const { durations, failures } = this.#begin({ store, engine, operation })
      return (seconds, error) => {
        durations.took(seconds)
        if (error === undefined || error instanceof WrongRevision) return
        const kind = kindOf(error)
        failures.set(kind, (failures.get(kind) ?? 0) + 1)
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
      ...[...this.#measured.values()].flatMap(({ labels, failures }) =>
        [...failures].map(([error, value]): Metric => ({
          name: 'adamant_store_failures_total',
          help: 'Calls of a store that failed, by the kind of failure',
          kind: 'counter',
          value,
          labels: { ...labels, error },
        })),
      ),
    ]
  }

  /** What is counted of a call, from now on. */
  #begin(labels: Measured['labels']): Measured {
    const key = `${labels.store} ${labels.operation}`
    const begun = this.#measured.get(key) ?? {
      labels,
      durations: new Histogram(),
      failures: new Map([...FAILURES.map(({ name }) => name), OTHER].map((kind) => [kind, 0])),
    }
    this.#measured.set(key, begun)
    return begun
  }
}

const OTHER = 'other'

const kindOf = (error: unknown): string => FAILURES.find((failure) => error instanceof failure)?.name ?? OTHER

/** The names of the calls that are timed. */
const operationsIn = (calls: TimedCalls): readonly string[] =>
  Object.entries(calls).flatMap(([name, call]) => (call === 'itself' ? [name] : operationsIn(call)))
