import { evolve, unknown, type Diamond, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import type { Fold } from '../core/load.ts'
import type { Origin } from '../../events/origin.ts'
import type { Writing } from '../core/handle.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'
import type { Position, Revision } from '../../stores/ports/event-store.ts'

export const diamondFold: Fold<Diamond, DiamondEvent> = { initial: unknown, evolve }

/** What commands on diamonds write with. */
export type Inventory = Writing & { readonly diamondIds: IdBlocks }

/** Whose diamonds may be changed, and who wants it. */
export type By = { readonly owner: number; readonly origin: Origin }

/** One diamond's change as a decision on its state. `pointer` names the entry in a bulk request's body. */
export type DiamondChange = {
  readonly id: number
  readonly pointer?: string
  readonly decide: (diamond: Diamond) => readonly DiamondEvent[]
}

/** A diamond as a change has left it. */
export type Changed = {
  readonly id: number
  /** R of its ETag `"R.S"`. */
  readonly revision: bigint
}

/** `position` is where the last change stands, undefined when nothing had to change. */
export type ChangedDiamonds = { readonly position: Position | undefined; readonly changed: readonly Changed[] }

/** R of a diamond's ETag: the revision of its owner's last change. What was read of its reports since is none. */
export function ownersRevision(diamond: Diamond, revision: Revision): bigint {
  const behind = diamond.status === 'live' ? BigInt(diamond.readingsBehind) : 0n
  return (revision === 'none' ? -1n : revision) - behind
}
