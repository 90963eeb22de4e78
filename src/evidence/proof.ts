import { formatHash, hashLeafEvent, nodeHash, parseHash, type Hash, type LeafEvent } from './hashes.ts'
import { verifyNote, parseCheckpoint, parseVerifierKey, type TreeHead } from './note.ts'

/**
 * Verifies inclusion and consistency proofs (RFC 9162, sections 2.1.3.2 and 2.1.4.2). It shares no code with the
 * generation of proofs.
 */

/**
 * Computes the root from an inclusion proof. @param size of the tree @returns undefined if the path does not fit index
 * and size
 */
export function rootFromInclusionProof(
  leaf: Hash,
  index: number,
  size: number,
  path: readonly Hash[],
): Hash | undefined {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return undefined
  let [at, last] = [index, size - 1]
  let root = leaf
  for (const hash of path) {
    if (last === 0) return undefined
    if (isOdd(at) || at === last) {
      root = nodeHash(hash, root)
      while (!isOdd(at) && at !== 0) [at, last] = [parentOf(at), parentOf(last)]
    } else root = nodeHash(root, hash)
    ;[at, last] = [parentOf(at), parentOf(last)]
  }
  return last === 0 ? root : undefined
}

type TreeRoot = { readonly size: number; readonly root: Hash }

/** Verifies a consistency proof: whether the first tree is a prefix of the second. */
export function isConsistent(one: TreeRoot, other: TreeRoot, path: readonly Hash[]): boolean {
  if (one.size > other.size || one.size < 0) return false
  if (one.size === other.size) return path.length === 0 && one.root.equals(other.root)
  if (one.size === 0) return path.length === 0
  const [first, ...remainingPath] = Math.log2(one.size) % 1 === 0 ? [one.root, ...path] : path
  if (first === undefined) return false
  let [at, last] = [one.size - 1, other.size - 1]
  while (isOdd(at)) [at, last] = [parentOf(at), parentOf(last)]
  let [oldRoot, newRoot] = [first, first]
  for (const hash of remainingPath) {
    if (last === 0) return false
    if (isOdd(at) || at === last) {
      oldRoot = nodeHash(hash, oldRoot)
      newRoot = nodeHash(hash, newRoot)
      while (!isOdd(at) && at !== 0) [at, last] = [parentOf(at), parentOf(last)]
    } else newRoot = nodeHash(newRoot, hash)
    ;[at, last] = [parentOf(at), parentOf(last)]
  }
  return last === 0 && oldRoot.equals(one.root) && newRoot.equals(other.root)
}

const isOdd = (number: number) => number % 2 === 1
const parentOf = (number: number) => Math.floor(number / 2)

export const PROOF_FORMAT = 'adamant-proof/1'

/** An event with its leaf index and its inclusion proof. */
export type ProvenEvent = { readonly index: number } & LeafEvent & { readonly path: readonly string[] }

/**
 * A proof of a diamond's history. `key` is the verifier key of its creator; a verifier must get the key from elsewhere.
 */
export type Proof = {
  readonly format: typeof PROOF_FORMAT
  readonly diamond: number
  readonly events: readonly ProvenEvent[]
  readonly checkpoint: string
  readonly key: string
}

/** `why` is empty if `ok` is true. */
export type ProofCheck = {
  readonly ok: boolean
  readonly diamond: number | null
  readonly events: number
  readonly size: number | null
  readonly why: string
}

class InvalidProof extends Error {}

/** The consistency proof is missing, malformed or of other sizes: it says nothing about the log. */
export class UnusableConsistencyProof extends Error {
  constructor(
    reason: string,
    readonly sizes: { readonly from: number; readonly to: number },
  ) {
    super(`the consistency proof from ${sizes.from} to ${sizes.to} ${reason}`)
  }
}

/**
 * Verifies a proof offline, with only a key: every event is in the tree whose root is signed, all events belong to the
 * diamond, and none is missing between the first and the last of a stream. A proof can't show whether later events
 * exist.
 * @param text the proof as JSON
 * @param key the verifier key, from a trusted source
 */
export function verifyProof(text: string, key: string): ProofCheck {
  let summary: Omit<ProofCheck, 'ok' | 'why'> = { diamond: null, events: 0, size: null }
  try {
    const proof = parseProof(text)
    summary = { ...summary, diamond: proof.diamond, events: proof.events.length }
    const head = verifyTreeHead(proof.checkpoint, key)
    summary = { ...summary, size: head.size }
    checkStreams(proof)
    for (const event of proof.events) verifyInclusion(event, head)
    return { ok: true, ...summary, why: '' }
  } catch (error) {
    if (!(error instanceof InvalidProof)) throw error
    return { ok: false, ...summary, why: error.message }
  }
}

function parseProof(text: string): Proof {
  const proof = withContext('the file', () => JSON.parse(text) as Partial<Proof> | null)
  if (proof?.format !== PROOF_FORMAT) throw new InvalidProof(`the file is not a proof in the format ${PROOF_FORMAT}`)
  const { diamond, events, checkpoint } = proof
  if (typeof diamond !== 'number' || !Number.isSafeInteger(diamond))
    throw new InvalidProof('diamond: must be an integer')
  if (typeof checkpoint !== 'string') throw new InvalidProof('checkpoint: must be a string')
  if (!Array.isArray(events) || events.length === 0) throw new InvalidProof('events: must be a non-empty array')
  for (const [at, event] of events.entries())
    if (!isEvent(event)) throw new InvalidProof(`events[${at}]: must be an event`)
  return proof as Proof
}

function isEvent(event: Partial<ProvenEvent> | null): boolean {
  if (typeof event !== 'object' || event === null) return false
  const { index, stream, revision, id, type, data, metadata, path } = event
  const isText = [stream, id, type].every((value) => typeof value === 'string')
  const isNumbered = Number.isSafeInteger(index) && Number.isSafeInteger(revision)
  const hasContent = [data, metadata].every((value) => typeof value === 'object' && value !== null)
  return isText && isNumbered && hasContent && Array.isArray(path) && path.every((hash) => typeof hash === 'string')
}

function verifyTreeHead(checkpoint: string, key: string, part = 'the checkpoint'): TreeHead {
  const verifier = withContext('the key', () => parseVerifierKey(key))
  const [origin = ''] = checkpoint.split('\n', 1)
  if (origin !== verifier.name)
    throw new InvalidProof(`${part} is from ${origin.slice(0, 100)}, but the key is from ${verifier.name}`)
  return withContext(part, () => parseCheckpoint(verifyNote(checkpoint, verifier)))
}

/** A signed checkpoint and the name by which errors refer to it. */
export type KeptCheckpoint = { readonly name: string; readonly note: string }

/** `from` and `to` are the sizes of the smaller and the larger tree, null if not both signatures are valid. */
type CheckpointComparison = {
  readonly ok: boolean
  readonly from: number | null
  readonly to: number | null
  readonly why: string
}

/**
 * Verifies offline, with only a key, that the smaller of two trees is the beginning of the larger one: then nothing before the
 * older checkpoint was changed, removed, inserted or moved.
 * @param proof response of /log/consistency for the two sizes, as JSON; not used if the sizes are equal
 * @param key the verifier key, from a trusted source
 * @throws UnusableConsistencyProof
 */
export function compareCheckpoints(
  checkpoints: readonly [KeptCheckpoint, KeptCheckpoint],
  proof: string | undefined,
  key: string,
): CheckpointComparison {
  let summary: Pick<CheckpointComparison, 'from' | 'to'> = { from: null, to: null }
  try {
    const [first, second] = checkpoints.map(({ name, note }) => verifyTreeHead(note, key, name)) as [TreeHead, TreeHead]
    const [older, newer] = first.size <= second.size ? [first, second] : [second, first]
    summary = { from: older.size, to: newer.size }
    const path = older.size === newer.size ? [] : parseConsistencyProof(proof, { from: older.size, to: newer.size })
    if (!isConsistent(older, newer, path)) throw new InvalidProof(inconsistencyOf(older, newer))
    return { ok: true, ...summary, why: '' }
  } catch (error) {
    if (!(error instanceof InvalidProof)) throw error
    return { ok: false, ...summary, why: error.message }
  }
}

/** @throws UnusableConsistencyProof */
function parseConsistencyProof(
  text: string | undefined,
  sizes: { readonly from: number; readonly to: number },
): Hash[] {
  if (text === undefined) throw new UnusableConsistencyProof('is needed', sizes)
  let proof: { readonly from?: unknown; readonly to?: unknown; readonly hashes?: unknown } | null
  try {
    proof = JSON.parse(text) as typeof proof
  } catch {
    // The position in the text would not help: the file is another one, or empty.
    throw new UnusableConsistencyProof('is needed; the file is not JSON', sizes)
  }
  if (proof?.from !== sizes.from || proof.to !== sizes.to)
    throw new UnusableConsistencyProof(
      `is needed; the file is from ${String(proof?.from)} to ${String(proof?.to)}`,
      sizes,
    )
  const hashes = Array.isArray(proof.hashes) ? proof.hashes.map((hash) => parseHash(String(hash))) : [undefined]
  const validHashes = hashes.filter((hash) => hash !== undefined)
  if (validHashes.length !== hashes.length)
    throw new UnusableConsistencyProof('is needed; the file has no SHA-256 hashes in base64', sizes)
  return validHashes
}

const inconsistencyOf = ({ size, root }: TreeHead, newer: TreeHead): string =>
  size === newer.size
    ? `two different logs of ${size} events were signed: their roots are ${formatHash(root)} and ${formatHash(newer.root)}`
    : `the proof does not show that the log of ${size} events is the beginning of the log of ${newer.size} events`

/** Events must be in log order, and those of each stream complete from revision 0. */
function checkStreams({ diamond, events }: Proof): void {
  const nextRevisions = new Map([`diamond-${diamond}`, `scores-${diamond}`].map((stream) => [stream, 0]))
  let previousIndex = -1
  for (const { index, stream, revision } of events) {
    const expected = nextRevisions.get(stream)
    if (expected === undefined)
      throw new InvalidProof(`event ${index} is in stream ${stream}, which does not belong to diamond ${diamond}`)
    if (revision !== expected)
      throw new InvalidProof(`event ${index} is ${stream}@${revision}, expected ${stream}@${expected}`)
    if (index <= previousIndex) throw new InvalidProof(`event ${index} comes after event ${previousIndex}`)
    nextRevisions.set(stream, expected + 1)
    previousIndex = index
  }
  if (nextRevisions.get(`diamond-${diamond}`) === 0) throw new InvalidProof(`there is no event of diamond-${diamond}`)
}

function verifyInclusion(
  { index, path, stream, revision, id, type, data, metadata }: ProvenEvent,
  head: TreeHead,
): void {
  const hashes = path.map((text) => parseHash(text))
  const validHashes = hashes.filter((hash) => hash !== undefined)
  const leaf = hashLeafEvent({ stream, revision, id, type, data, metadata })
  const root =
    validHashes.length === hashes.length ? rootFromInclusionProof(leaf, index, head.size, validHashes) : undefined
  if (root?.equals(head.root) !== true) {
    throw new InvalidProof(
      `event ${index}, ${stream}@${revision} (${type}), is not in the signed tree of ${head.size} events`,
    )
  }
}

/** @throws InvalidProof that says which part is wrong and why */
function withContext<Result>(part: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw new InvalidProof(`${part}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
