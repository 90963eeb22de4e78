import type { Diamond } from '../../domain/diamond/diamond.ts'
import type { Origin } from '../../events/origin.ts'
import type { Writing } from '../core/handle.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'
import type { Revision } from '../../stores/ports/event-store.ts'

/** What commands on diamonds write with. */
export type Inventory = Writing & { readonly diamondIds: IdBlocks }

/** Whose diamonds may be changed, and who wants it. */
export type By = { readonly owner: number; readonly origin: Origin }

/** R of a diamond's ETag: the revision of its owner's last change. What was read of its reports since is none. */
export function ownersRevision(diamond: Diamond, revision: Revision): bigint {
  const behind = diamond.status === 'live' ? BigInt(diamond.readingsBehind) : 0n
  return (revision === 'none' ? -1n : revision) - behind
}
