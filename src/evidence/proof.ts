import { hashLeafEvent, nodeHash, parseHash, type Hash, type LeafEvent } from './hashes.ts'
import { verifyNote, parseCheckpoint, parseVerifierKey, type TreeHead } from './note.ts'

/**
 * What a verifier does with a proof: RFC 9162, 2.1.3.2 and 2.1.4.2. It walks up by the bits of the numbers and shares nothing
 * with what makes proofs.
 */

/** @returns the root that the path leads to, undefined where it does not fit the numbers. @param size of the tree */
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
      while (!isOdd(at) && at !== 0) [at, last] = [up(at), up(last)]
    } else root = nodeHash(root, hash)
    ;[at, last] = [up(at), up(last)]
  }
  return last === 0 ? root : undefined
}

/** Roots of a tree at two of its sizes. */
export type TreeRoot = { readonly size: number; readonly root: Hash }

/** Whether the path shows that the one is the beginning of the other. */
export function isConsistent(one: TreeRoot, other: TreeRoot, path: readonly Hash[]): boolean {
  if (one.size > other.size || one.size < 0) return false
  if (one.size === other.size) return path.length === 0 && one.root.equals(other.root)
  if (one.size === 0) return path.length === 0
  const [first, ...rest] = Math.log2(one.size) % 1 === 0 ? [one.root, ...path] : path
  if (first === undefined) return false
  let [at, last] = [one.size - 1, other.size - 1]
  while (isOdd(at)) [at, last] = [up(at), up(last)]
  let [before, after] = [first, first]
  for (const hash of rest) {
    if (last === 0) return false
    if (isOdd(at) || at === last) {
      before = nodeHash(hash, before)
      after = nodeHash(hash, after)
      while (!isOdd(at) && at !== 0) [at, last] = [up(at), up(last)]
    } else after = nodeHash(after, hash)
    ;[at, last] = [up(at), up(last)]
  }
  return last === 0 && before.equals(one.root) && after.equals(other.root)
}

const isOdd = (number: number) => number % 2 === 1
const up = (number: number) => Math.floor(number / 2)

/** The form of a proof that this release makes and checks. */
export const PROOF_FORMAT = 'adamant-proof/1'

/** An event with its place in the tree, and the hashes that lead from it to the root. */
export type ProvenEvent = { readonly index: number } & LeafEvent & { readonly path: readonly string[] }

/** What happened to a stone, for who holds it in hand. `key` is for who trusts it: a check is given one from elsewhere. */
export type Proof = {
  readonly format: typeof PROOF_FORMAT
  readonly diamond: number
  readonly events: readonly ProvenEvent[]
  readonly checkpoint: string
  readonly key: string
}

/** What became of a check. `why` is empty where it is ok. */
export type ProofCheck = {
  readonly ok: boolean
  readonly diamond: number | null
  readonly events: number
  readonly size: number | null
  readonly why: string
}

/** What a proof does not show, in words for who checks it. */
class InvalidProof extends Error {}

/**
 * Checks a proof without anything but a key: that every event stands where it says in the very tree whose root is signed,
 * that they are the stone's alone, and that none is left out between the first and the last of a stream. That there are none
 * behind the last can't be seen from it.
 * @param text of the proof, as it came
 * @param key a verifier key, as the one who signs has made it known
 */
export function verifyProof(text: string, key: string): ProofCheck {
  let found: Omit<ProofCheck, 'ok' | 'why'> = { diamond: null, events: 0, size: null }
  try {
    const proof = parseProof(text)
    found = { ...found, diamond: proof.diamond, events: proof.events.length }
    const head = verifyTreeHead(proof.checkpoint, key)
    found = { ...found, size: head.size }
    checkStreams(proof)
    for (const event of proof.events) verifyInclusion(event, head)
    return { ok: true, ...found, why: '' }
  } catch (error) {
    if (!(error instanceof InvalidProof)) throw error
    return { ok: false, ...found, why: error.message }
  }
}

function parseProof(text: string): Proof {
  const proof = withContext('the file', () => JSON.parse(text) as Partial<Proof> | null)
  if (proof?.format !== PROOF_FORMAT) throw new InvalidProof(`the file is no proof of the form ${PROOF_FORMAT}`)
  const { diamond, events, checkpoint } = proof
  if (typeof diamond !== 'number' || !Number.isSafeInteger(diamond)) throw new InvalidProof('diamond is no id')
  if (typeof checkpoint !== 'string') throw new InvalidProof('checkpoint is no text')
  if (!Array.isArray(events) || events.length === 0) throw new InvalidProof('events is no list, or an empty one')
  for (const [at, event] of events.entries()) if (!isEvent(event)) throw new InvalidProof(`events[${at}] is no event`)
  return proof as Proof
}

function isEvent(event: Partial<ProvenEvent> | null): boolean {
  if (typeof event !== 'object' || event === null) return false
  const { index, stream, revision, id, type, data, metadata, path } = event
  const isText = [stream, id, type].every((value) => typeof value === 'string')
  const isNumbered = Number.isSafeInteger(index) && Number.isSafeInteger(revision)
  const isSaid = [data, metadata].every((value) => typeof value === 'object' && value !== null)
  return isText && isNumbered && isSaid && Array.isArray(path) && path.every((hash) => typeof hash === 'string')
}

function verifyTreeHead(checkpoint: string, key: string): TreeHead {
  const verifier = withContext('the key', () => parseVerifierKey(key))
  const head = withContext('the checkpoint', () => parseCheckpoint(verifyNote(checkpoint, verifier)))
  if (head.origin !== verifier.name)
    throw new InvalidProof(`the checkpoint is of ${head.origin}, the key of ${verifier.name}`)
  return head
}

/** In the order of the log, each stream from its beginning, one behind the other. */
function checkStreams({ diamond, events }: Proof): void {
  const next = new Map([`diamond-${diamond}`, `scores-${diamond}`].map((stream) => [stream, 0]))
  let before = -1
  for (const { index, stream, revision } of events) {
    const expected = next.get(stream)
    if (expected === undefined)
      throw new InvalidProof(`event ${index} is of ${stream}, which is not of diamond ${diamond}`)
    if (revision !== expected)
      throw new InvalidProof(`event ${index} is ${stream}@${revision}, where ${stream}@${expected} is due`)
    if (index <= before) throw new InvalidProof(`event ${index} stands behind event ${before}`)
    next.set(stream, expected + 1)
    before = index
  }
  if (next.get(`diamond-${diamond}`) === 0) throw new InvalidProof(`no event of diamond-${diamond} itself is there`)
}

function verifyInclusion(
  { index, path, stream, revision, id, type, data, metadata }: ProvenEvent,
  head: TreeHead,
): void {
  const hashes = path.map((text) => parseHash(text))
  const known = hashes.filter((hash) => hash !== undefined)
  const leaf = hashLeafEvent({ stream, revision, id, type, data, metadata })
  const root = known.length === hashes.length ? rootFromInclusionProof(leaf, index, head.size, known) : undefined
  if (root?.equals(head.root) !== true) {
    throw new InvalidProof(
      `event ${index}, ${stream}@${revision} (${type}), is not in the tree of ${head.size} events that is signed`,
    )
  }
}

/** @throws NotProven with what was wrong with what */
function withContext<Result>(what: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw new InvalidProof(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
