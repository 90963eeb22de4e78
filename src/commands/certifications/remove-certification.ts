import { detach, diamondDecider, diamondStream } from '../../domain/diamond/diamond.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { By } from '../diamonds/diamonds.ts'
import { handle, type Writing } from '../core/handle.ts'

/**
 * Removes a certification; its file is collected later, when nothing uses it.
 * @param diamond that it is attached to
 * @throws Refusal missing, forbidden; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function removeCertification(
  writing: Writing,
  { owner, origin }: By,
  { id, diamond }: { readonly id: number; readonly diamond: number },
): Promise<Position | undefined> {
  const wish = { stream: diamondStream(diamond), origin }
  const { position } = await handle(writing, wish, diamondDecider, (state) => detach(state, id, owner))
  return position
}
