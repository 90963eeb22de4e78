import { Counter, Gauge } from 'prom-client'
import type { Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'
import { EVENT_STORES } from './store-engines.ts'
import { engineOf } from './store-addresses.ts'
import { StaleReadPolicy } from '../projections/engine/stale-reads.ts'
import { BREAKER_STATES, type CircuitBreaker } from '../runtime/circuit-breaker.ts'
import type { WarningLogger } from '../runtime/logger.ts'
import { AccountDirectory } from '../commands/accounts/account-directory.ts'
import { guardLog, isLogOutage } from '../stores/log/guarded-log.ts'
import { OutageWait } from '../stores/log/outage-wait.ts'

/** An installation whose log has a circuit breaker, with the policy for reads while it is open. */
export type GuardedInstallation = {
  readonly installation: Installation
  readonly stale: StaleReadPolicy
  /** Lets calls of the log wait while it is unavailable. End it before requests arrive, or to abort the start. */
  readonly startWait: Pick<OutageWait, 'end'>
}

/** Puts a circuit breaker in front of a log on a server; an embedded log needs none. */
export function guardInstallation(installation: Installation, parts: ServiceParts): GuardedInstallation {
  const { settings, persons, keys, log } = installation
  const seconds = settings.STALE_READS
  const { location, name } = engineOf(EVENT_STORES, settings.EVENT_STORE)
  const warn: WarningLogger = (fields, message) => log.warn(fields, message)
  const startWait = new OutageWait({ store: name, warn, isOutage: isLogOutage })
  if (location === 'in DATA_DIR') return { installation, stale: new StaleReadPolicy(undefined, seconds), startWait }
  parts.add({ stage: 'requests', name: 'start', stop: async () => startWait.end() })
  const guarded = guardLog(installation.store, name, startWait)
  const { store, breaker, appendBreaker } = guarded
  parts.add({ stage: 'stores', name: 'circuit breaker', stop: async () => breaker.stop() })
  const breakers = [...installation.breakers, breaker, appendBreaker]
  const people = new AccountDirectory({ ...installation.context, store }, persons, keys)
  return {
    installation: { ...installation, store, breakers, people, context: { ...installation.context, store, people } },
    stale: new StaleReadPolicy(guarded, seconds),
    startWait,
  }
}

/** Exports the state and the openings of each circuit breaker. */
export function registerBreakerMetrics({
  metricsRegistry,
  breakers,
}: Pick<Installation, 'metricsRegistry' | 'breakers'>): void {
  const states = new Gauge({
    name: 'adamant_circuit_breaker_state',
    help: '1 for the current state of the circuit breaker',
    labelNames: ['engine', 'calls', 'state'],
    registers: [],
    collect() {
      for (const breaker of breakers)
        for (const state of BREAKER_STATES) this.set({ ...labelsOf(breaker), state }, state === breaker.state ? 1 : 0)
    },
  })
  const openings = new Counter({
    name: 'adamant_circuit_breaker_opened_total',
    help: 'Times that the circuit breaker has opened since the process started',
    labelNames: ['engine', 'calls'],
    registers: [],
    collect() {
      this.reset()
      for (const breaker of breakers) this.inc(labelsOf(breaker), breaker.openings)
    },
  })
  metricsRegistry.registerMetric(states)
  metricsRegistry.registerMetric(openings)
}

const labelsOf = ({ policy: { store: engine, calls } }: CircuitBreaker) => ({ engine, calls })
