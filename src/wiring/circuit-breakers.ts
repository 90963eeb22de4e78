import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { EVENT_STORES } from './engines.ts'
import { engineOf } from './store-addresses.ts'
import { StaleReads } from '../projections/engine/stale-reads.ts'
import { guardLog } from '../stores/log/guarded-log.ts'

/** An installation whose log fails at once while it is away, and what reads do without it. */
export type Guarded = { readonly installation: Installation; readonly stale: StaleReads }

/** A log that lies beside its readers needs no breaker. */
export function guardInstallation(installation: Installation, parts: OpenParts): Guarded {
  const { settings, writing } = installation
  const seconds = settings.STALE_READS
  const { lies, name } = engineOf(EVENT_STORES, settings.EVENT_STORE)
  if (lies === 'in DATA_DIR') return { installation, stale: new StaleReads(undefined, seconds) }
  const guarded = guardLog(installation.store, name)
  const { store, breaker } = guarded
  parts.add({ stage: 'stores', name: 'circuit breaker', stop: async () => breaker.stop() })
  return {
    installation: { ...installation, store, writing: { ...writing, store } },
    stale: new StaleReads(guarded, seconds),
  }
}
