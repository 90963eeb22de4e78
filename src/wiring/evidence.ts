import { openLogKey } from '../commands/evidence/signed-checkpoints.ts'
import type { EvidenceServices } from '../http/evidence/transparency-log.ts'
import type { ProjectionProgress } from '../projections/engine/progress.ts'
import { SignedCheckpoints } from '../projections/tree/signed-checkpoints.ts'
import { CheckpointSigner } from '../reactions/evidence/checkpoint-signing.ts'
import type { ReadModel } from '../stores/ports/read-store.ts'
import type { Installation } from './installation.ts'

/** What shows to outsiders that the log is what it was. */
export type OpenEvidence = {
  /** Undefined where the log has no key and takes none any more: nothing of it was ever signed. */
  readonly services: EvidenceServices['evidence']
  readonly signer: CheckpointSigner | undefined
}

/** @throws WrongMasterKey, StoreUnavailable */
export async function openEvidence(
  { store, keys, writing }: Installation,
  { model, progress }: { readonly model: ReadModel; readonly progress: ProjectionProgress },
): Promise<OpenEvidence> {
  const key = await openLogKey(writing, keys)
  if (key === undefined) return { services: undefined, signer: undefined }
  const checkpoints = new SignedCheckpoints(store, key)
  const signer = new CheckpointSigner({ ...writing, model, progress, checkpoints, key })
  return { services: { checkpoints, signer, model }, signer }
}
