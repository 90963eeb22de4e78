import { openLogKey } from '../commands/evidence/signed-checkpoints.ts'
import type { EvidenceServices } from '../http/evidence/transparency-log.ts'
import type { ProjectionProgress } from '../projections/engine/progress.ts'
import { SignedCheckpoints } from '../projections/tree/signed-checkpoints.ts'
import { CheckpointSigner } from '../reactions/evidence/checkpoint-signing.ts'
import type { ReadModel } from '../stores/ports/read-store.ts'
import type { Installation } from './installation.ts'

/** The transparency log: proves to outsiders that the event log was not rewritten. */
export type OpenEvidence = {
  /** Undefined if the log has no signing key and is closed: nothing was ever signed. */
  readonly services: EvidenceServices['evidence']
  readonly signer: CheckpointSigner | undefined
}

/** @throws WrongMasterKey, StoreUnavailable */
export async function openEvidence(
  { store, keys, context }: Installation,
  { model, progress }: { readonly model: ReadModel; readonly progress: ProjectionProgress },
): Promise<OpenEvidence> {
  const key = await openLogKey(context, keys)
  if (key === undefined) return { services: undefined, signer: undefined }
  const checkpoints = new SignedCheckpoints(store, key)
  const signer = new CheckpointSigner({ ...context, model, progress, checkpoints, key })
  return { services: { checkpoints, signer, model }, signer }
}
