import { owned, patch, remove } from '../../domain/diamond/decide.ts'
import { unknown, type Diamond } from '../../domain/diamond/diamond.ts'
import type { Change } from '../../domain/diamond/fields.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Revision } from '../../stores/ports/event-store.ts'
import { handle, type Writing } from '../core/handle.ts'
import { diamondFold, ownersRevision, type By, type ChangedDiamonds, type DiamondChange } from './diamonds.ts'

export function patchDiamond(id: number, change: Change, { owner }: By, pointer?: string): DiamondChange {
  return {
    id,
    decide: (diamond) => patch(diamond, id, owner, change),
    ...(pointer !== undefined && { pointer }),
  }
}

export function deleteDiamond(id: number, { owner }: By, pointer?: string): DiamondChange {
  return { id, decide: (diamond) => remove(diamond, id, owner), ...(pointer !== undefined && { pointer }) }
}

/** Revisions that the caller has seen, from If-Match; any, or `*` for whatever there is. */
export type Match = '*' | readonly bigint[]

/**
 * Changes one diamond.
 * @throws Refusal missing, forbidden, precondition
 */
export async function changeDiamond(
  writing: Writing,
  { owner, origin }: By,
  { id, decide }: DiamondChange,
  match?: Match,
): Promise<ChangedDiamonds> {
  const wish = { stream: diamondStream(id), origin }
  const { state, events, position, revision } = await handle(writing, wish, diamondFold, (diamond, _now, found) => {
    owned(diamond, id, owner)
    checkMatch(match, diamond, found)
    return decide(diamond)
  })
  // What was written now is the owner's last change, whatever came after an earlier try of it.
  const left = events.length > 0 ? unknown : state
  return { position, changed: [{ id, revision: ownersRevision(left, revision) }] }
}

function checkMatch(match: Match | undefined, diamond: Diamond, revision: Revision): void {
  if (match === undefined || match === '*') return
  if (!match.includes(ownersRevision(diamond, revision))) {
    throw new Refusal('precondition', 'The diamond has changed since it was read: If-Match does not hold')
  }
}
