import { formatHash, toLeafEvent } from '../../evidence/hashes.ts'
import { PROOF_FORMAT, type Proof, type ProvenEvent } from '../../evidence/proof.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { SignedCheckpoints, SignedCheckpoint, Signer } from './signed-checkpoints.ts'
import { TreeQueries } from './tree-queries.ts'

type ProofSources = {
  /** The read model of the tree. */
  readonly model: ReadModel
  readonly checkpoints: SignedCheckpoints
  readonly signer: Signer
}

/**
 * Proves a diamond's history to a holder of the log's verifier key: its events with inclusion proofs, as far as a
 * signed checkpoint covers them. If none is covered, the log is signed now.
 * @param events of the diamond, in log order
 * @param ms maximum wait for the tree
 * @returns undefined if no event is covered yet
 * @throws NotInTree, ForeignCheckpoint, LogRewritten, StoreUnavailable
 */
export async function proveDiamond(
  { model, checkpoints, signer }: ProofSources,
  diamond: number,
  events: readonly StoredEvent[],
  ms: number,
): Promise<Proof | undefined> {
  const queries = new TreeQueries(model)
  const latestCheckpoint = await checkpoints.latestOfEpoch()
  let evidence = latestCheckpoint && {
    head: latestCheckpoint,
    events: await proveEvents(latestCheckpoint, events, queries),
  }
  if (evidence === undefined || evidence.events.length === 0) {
    const head = await signer.sign(ms, events.at(-1)?.position)
    // Tiles may have grown since they were read: use fresh queries.
    evidence = head && { head, events: await proveEvents(head, events, new TreeQueries(model)) }
  }
  if (evidence === undefined || evidence.events.length === 0) return undefined
  const key = await checkpoints.verifierKey()
  return { format: PROOF_FORMAT, diamond, events: evidence.events, checkpoint: evidence.head.note, key }
}

/** Proofs of the events that a checkpoint covers: a prefix of the list. */
async function proveEvents({ size }: SignedCheckpoint, events: readonly StoredEvent[], queries: TreeQueries) {
  const provenEvents: ProvenEvent[] = []
  for (const event of events) {
    const index = await queries.indexOf(event, size)
    if (index === undefined) break
    const path = await queries.inclusionProof(index, size)
    provenEvents.push({ index, ...toLeafEvent(event), path: path.map(formatHash) })
  }
  return provenEvents
}
