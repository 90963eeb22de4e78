import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { EVENT_STORES } from './engines.ts'
import { engineOf } from './store-addresses.ts'
import { StaleReads } from '../projections/engine/stale-reads.ts'
import { GuardedLog } from '../stores/log/guarded-log.ts'

/** An installation whose log is known to be there or to be away, and what reads do without it. */
export type Watched = { readonly installation: Installation; readonly stale: StaleReads }

/** A log that lies beside its readers needs no watching. */
export function watchLog(installation: Installation, parts: OpenParts): Watched {
  const { settings, store, writing } = installation
  const seconds = settings.STALE_READS
  const { lies, name } = engineOf(EVENT_STORES, settings.EVENT_STORE)
  if (lies === 'in DATA_DIR') return { installation, stale: new StaleReads(undefined, seconds) }
  const watched = new GuardedLog(store, name)
  parts.add({ stage: 'stores', name: 'watch', stop: async () => watched.stop() })
  const known = watched.store
  return {
    installation: { ...installation, store: known, writing: { ...writing, store: known } },
    stale: new StaleReads(watched, seconds),
  }
}
