import { detach } from '../../domain/certification/decide.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { type By, diamondFold } from '../diamonds/diamonds.ts'
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
  const { position } = await handle(writing, wish, diamondFold, (state) => detach(state, id, owner))
  return position
}
