import type { StoredEvent } from '../stores/ports/event-store.ts'
import { canonicalJson } from './canonical-json.ts'
import { leafHash, type Hash } from './hashes.ts'

/** What a leaf says of an event: nothing of the engine that holds it, so that the tree is the same on another one. */
export type LeafEvent = Pick<StoredEvent, 'stream' | 'id' | 'type' | 'data' | 'metadata'> & {
  readonly revision: number
}

/** An event as leaves and proofs have it. Its data are those that are stored, whatever this release makes of them. */
export const leafEvent = ({ stream, revision, id, type, data, metadata }: StoredEvent): LeafEvent => ({
  stream,
  revision: Number(revision),
  id,
  type,
  data,
  metadata,
})

export const hashOfLeaf = (event: LeafEvent): Hash => leafHash(canonicalJson(event))
