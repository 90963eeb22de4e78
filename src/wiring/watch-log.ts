import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { StaleReads } from '../projections/engine/stale-reads.ts'
import { WatchedLog } from '../stores/watched/watched-log.ts'

/** An installation whose log is known to be there or to be away, and what reads do without it. */
export type Watched = { readonly installation: Installation; readonly stale: StaleReads }

/** A log that tells its head without a promise lies beside its readers, and needs no watching. */
export function watchLog(installation: Installation, parts: OpenParts): Watched {
  const { settings, store, writing } = installation
  const seconds = settings.STALE_READS
  const head = store.head()
  if (!(head instanceof Promise)) return { installation, stale: new StaleReads(undefined, seconds) }
  // Whoever needs it next is told.
  head.catch(() => undefined)
  const watched = new WatchedLog(store, 'EventStoreDB')
  parts.add({ stage: 'stores', name: 'watch', stop: async () => watched.stop() })
  const known = watched.store
  return {
    installation: { ...installation, store: known, writing: { ...writing, store: known } },
    stale: new StaleReads(watched, seconds),
  }
}
