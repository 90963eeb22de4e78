import {
  attachModel as decide,
  detachModel,
  diamondDecider,
  diamondStream,
  owned,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import { randomUUID } from 'node:crypto'
import type { StoneModel, StoneShape } from '../../domain/diamond/stone-model.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { Incoming } from '../../stores/ports/files.ts'
import { handle, type Writing } from '../core/handle.ts'
import { ensured, whileHeld } from '../core/held-files.ts'
import type { By } from './diamonds.ts'

/** What the file that was kept under a digest says of a body. @throws Refusal invalid for what is no body of a stone */
export type InspectModel = (digest: string) => Promise<StoneShape>

export type AttachedModel = {
  readonly model: StoneModel
  /** Its stone as it is with it. */
  readonly diamond: LiveDiamond
  readonly position: Position | undefined
}

/**
 * Attaches a stone's own body. The file is durable and held before it is looked at, and the event before the answer.
 * @throws Refusal missing, forbidden, invalid for a file that is no stone's; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function attachModel(
  writing: Writing,
  { owner, origin }: By,
  id: number,
  incoming: Incoming,
  inspect: InspectModel,
): Promise<AttachedModel> {
  const stream = diamondStream(id)
  owned((await writing.states.load(writing.store, stream, diamondDecider)).state, id, owner)
  const kept = await incoming.keep()
  return whileHeld(kept, async () => {
    const model = { ...(await inspect(kept.digest)), file: { digest: kept.digest, bytes: kept.bytes } }
    const wish = { stream, id: randomUUID(), origin }
    const at = { id, owner }
    const { state, events, position } = await handle(writing, wish, diamondDecider, (found) => decide(found, at, model))
    if (events.length > 0) await ensured(kept, () => takenBack(writing, { owner, origin }, id, kept.digest))
    return { model, diamond: owned(state, id, owner), position }
  })
}

const takenBack = (writing: Writing, { owner, origin }: By, id: number, digest: string) =>
  handle(writing, { stream: diamondStream(id), origin }, diamondDecider, (found) => {
    const { model } = owned(found, id, owner)
    return model?.file.digest === digest ? detachModel(found, { id, owner }) : []
  })

/**
 * Removes a stone's own body; the file is collected later, when nothing uses it.
 * @throws Refusal missing, forbidden; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function removeModel(writing: Writing, { owner, origin }: By, id: number): Promise<Position | undefined> {
  const wish = { stream: diamondStream(id), origin }
  const { position } = await handle(writing, wish, diamondDecider, (found) => detachModel(found, { id, owner }))
  return position
}
