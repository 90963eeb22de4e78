import {
  attachModel as decide,
  detachModel,
  diamondDecider,
  diamondStream,
  requireOwnedDiamond,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import { randomUUID } from 'node:crypto'
import type { StoneModel, StoneModelProperties } from '../../domain/diamond/stone-model.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { FileUpload } from '../../stores/ports/file-store.ts'
import { handle, type CommandContext } from '../core/handle.ts'
import { ensureHeldFile, withFileHold } from '../core/file-holds.ts'
import type { CommandPrincipal } from './diamonds.ts'

/** What the file that was kept under a digest says of a body. @throws Refusal invalid for what is no body of a stone */
export type ModelInspector = (digest: string) => Promise<StoneModelProperties>

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
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  id: number,
  incoming: FileUpload,
  inspect: ModelInspector,
): Promise<AttachedModel> {
  const stream = diamondStream(id)
  requireOwnedDiamond((await context.stateCache.load(context.store, stream, diamondDecider)).state, id, owner)
  const heldFile = await incoming.keep()
  return withFileHold(heldFile, async () => {
    const model = { ...(await inspect(heldFile.digest)), file: { digest: heldFile.digest, bytes: heldFile.bytes } }
    const target = { stream, id: randomUUID(), origin }
    const at = { id, owner }
    const { state, events, position } = await handle(context, target, diamondDecider, (found) =>
      decide(found, at, model),
    )
    if (events.length > 0)
      await ensureHeldFile(heldFile, () => compensateModelAttachment(context, { owner, origin }, id, heldFile.digest))
    return { model, diamond: requireOwnedDiamond(state, id, owner), position }
  })
}

const compensateModelAttachment = (
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  id: number,
  digest: string,
) =>
  handle(context, { stream: diamondStream(id), origin }, diamondDecider, (found) => {
    const { model } = requireOwnedDiamond(found, id, owner)
    return model?.file.digest === digest ? detachModel(found, { id, owner }) : []
  })

/**
 * Removes a stone's own body; the file is collected later, when nothing uses it.
 * @throws Refusal missing, forbidden; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function removeModel(
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  id: number,
): Promise<Position | undefined> {
  const target = { stream: diamondStream(id), origin }
  const { position } = await handle(context, target, diamondDecider, (found) => detachModel(found, { id, owner }))
  return position
}
