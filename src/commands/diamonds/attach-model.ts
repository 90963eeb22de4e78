import {
  attachModel as decide,
  detachModel,
  diamondFold,
  diamondStream,
  requireOwnedDiamond,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import { randomUUID } from 'node:crypto'
import { RequestError } from '../../domain/request-error.ts'
import type { StoneModel } from '../../domain/diamond/stone-model.ts'
import type { StoneModelProperties } from '../../optics/stone-model-tracing.ts'
import { InvalidMesh } from '../../optics/mesh/mesh.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { FileUpload } from '../../stores/ports/file-store.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import { ensureHeldFile, withFileHold } from '../core/file-holds.ts'
import type { CommandPrincipal } from './diamonds.ts'

/** Reads the properties of a stored model file. @throws InvalidMesh if it is not a model of a stone */
export type ModelInspector = (digest: string) => Promise<StoneModelProperties>

type AttachedModel = {
  readonly model: StoneModel
  /** The diamond including the new model. */
  readonly diamond: LiveDiamond
  readonly position: Position | undefined
}

/**
 * Attaches a 3D model to a diamond. The file is durable and held before it is inspected, and the event is appended
 * before the response is sent.
 * @throws RequestError 'missing', 'forbidden', 'invalid' if the file is not a model of a stone; WrongRevision,
 *   OutcomeUnknown, StoreUnavailable
 */
export async function attachModel(
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  id: number,
  incoming: FileUpload,
  inspect: ModelInspector,
): Promise<AttachedModel> {
  const stream = diamondStream(id)
  requireOwnedDiamond((await context.stateCache.load(context.store, stream, diamondFold)).state, id, owner)
  const heldFile = await incoming.keep()
  return withFileHold([heldFile], async () => {
    const properties = await inspect(heldFile.digest).catch(refuseInvalidMesh)
    const model = { ...properties, file: { digest: heldFile.digest, bytes: heldFile.bytes } }
    const target = { stream, id: randomUUID(), origin }
    const ownership = { id, owner }
    const { state, events, position } = await handle(context, target, diamondFold, (diamond) =>
      decide(diamond, ownership, model),
    )
    if (events.length > 0)
      await ensureHeldFile(heldFile, () => compensateModelAttachment(context, { owner, origin }, id, heldFile.digest))
    return { model, diamond: requireOwnedDiamond(state, id, owner), position }
  })
}

/** @throws RequestError 'invalid' for a file that is not a model of a stone, else the error itself */
function refuseInvalidMesh(error: unknown): never {
  if (!(error instanceof InvalidMesh)) throw error
  throw new RequestError('invalid', [{ pointer: '/file', message: error.message, code: 'format' }])
}

const compensateModelAttachment = (
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  id: number,
  digest: string,
) =>
  handle(context, { stream: diamondStream(id), origin }, diamondFold, (diamond) => {
    const { model } = requireOwnedDiamond(diamond, id, owner)
    return model?.file.digest === digest ? detachModel(diamond, { id, owner }) : []
  })

/**
 * Detaches a diamond's 3D model. Its file is garbage-collected once nothing refers to it.
 * @throws RequestError 'missing', 'forbidden'; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function removeModel(
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  id: number,
): Promise<Position | undefined> {
  const target = { stream: diamondStream(id), origin }
  const { position } = await handle(context, target, diamondFold, (diamond) => detachModel(diamond, { id, owner }))
  return position
}
