import type { Diamond } from '../../domain/diamond/diamond.ts'
import type { Position, Revision } from '../../stores/ports/event-store.ts'

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
