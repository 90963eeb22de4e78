import { generateKeyPairSync } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatHash, leafHash } from '../../src/evidence/hashes.ts'
import { formatCheckpoint, formatVerifierKey, signNote } from '../../src/evidence/note.ts'
import { compareCheckpoints, UnusableConsistencyProof } from '../../src/evidence/proof.ts'
import { consistencyProofRanges } from '../../src/evidence/subtrees.ts'
import { rangeHash } from '../../src/evidence/tiles.ts'
import { InMemoryTree } from './in-memory-tree.ts'

const test = suite('two kept checkpoints')

const ORIGIN = 'adamant/an-identity'
const { privateKey } = generateKeyPairSync('ed25519')
const key = formatVerifierKey(ORIGIN, privateKey)

async function logOf(...events: readonly string[]): Promise<InMemoryTree> {
  const tree = new InMemoryTree()
  await tree.add(events.map(leafHash))
  return tree
}

async function checkpointOf(tree: InMemoryTree, size: number, origin = ORIGIN) {
  const root = await rangeHash(tree.tiles, { begin: 0, end: size })
  const note = signNote(formatCheckpoint({ origin, size, root }), origin, privateKey)
  return { name: `checkpoint-${size}.txt`, note }
}

async function proofOf(tree: InMemoryTree, from: number, to: number): Promise<string> {
  const hashes = consistencyProofRanges(from, to).map((range) => rangeHash(tree.tiles, range))
  return JSON.stringify({ from, to, hashes: (await Promise.all(hashes)).map(formatHash) })
}

const EVENTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

test('of a log that was only appended to are consistent, in either order', async () => {
  const log = await logOf(...EVENTS)
  const [older, newer] = [await checkpointOf(log, 3), await checkpointOf(log, 7)]
  const proof = await proofOf(log, 3, 7)
  const consistent = { ok: true, from: 3, to: 7, why: '' }
  assert.equal(compareCheckpoints([older, newer], proof, key), consistent)
  assert.equal(compareCheckpoints([newer, older], proof, key), consistent)
  assert.equal(compareCheckpoints([older, older], undefined, key), { ok: true, from: 3, to: 3, why: '' })
})

test('of a log of which any event was changed, removed, inserted or moved are not consistent', async () => {
  const older = await checkpointOf(await logOf(...EVENTS), 3)
  const rewritten = [
    ['a', 'B', 'c', 'd', 'e', 'f', 'g'],
    ['a', 'c', 'd', 'e', 'f', 'g'],
    ['a', 'x', 'b', 'c', 'd', 'e', 'f', 'g'],
    ['a', 'c', 'b', 'd', 'e', 'f', 'g'],
  ]
  for (const events of rewritten) {
    const log = await logOf(...events)
    const newer = await checkpointOf(log, log.size)
    const { ok, why } = compareCheckpoints([older, newer], await proofOf(log, 3, log.size), key)
    assert.not(ok, events.join(''))
    assert.match(why, /does not show that the log of 3 events is the beginning of the log of \d events/)
    const same = compareCheckpoints([older, await checkpointOf(log, 3)], undefined, key)
    assert.match(same.why, /^two different logs of 3 events were signed/)
  }
})

test('are refused with the file and the reason', async () => {
  const log = await logOf(...EVENTS)
  const [older, newer] = [await checkpointOf(log, 3), await checkpointOf(log, 7)]
  const proof = await proofOf(log, 3, 7)
  const forged = { name: 'forged.txt', note: newer.note.replace('\n7\n', '\n8\n') }
  const restored = await checkpointOf(log, 7, `${ORIGIN}/1`)
  const whyNot = (other: typeof newer, text: string) => compareCheckpoints([older, other], text, key).why
  assert.is(whyNot(forged, proof), 'forged.txt: its signature does not match the key')
  assert.is(whyNot(restored, proof), `checkpoint-7.txt is from ${ORIGIN}/1, but the key is from ${ORIGIN}`)
})

test('get no verdict without a usable proof', async () => {
  const log = await logOf(...EVENTS)
  const pair = [await checkpointOf(log, 3), await checkpointOf(log, 7)] as const
  const unusable = {
    'is needed': undefined,
    'is not JSON': '{',
    'from undefined to undefined': 'null',
    'from 2 to 7': await proofOf(log, 2, 7),
    'no SHA-256 hashes': '{"from":3,"to":7}',
    'no SHA-256 hashes in base64': '{"from":3,"to":7,"hashes":["x"]}',
  }
  for (const [reason, text] of Object.entries(unusable)) {
    assert.throws(
      () => compareCheckpoints(pair, text, key),
      (error: unknown) => error instanceof UnusableConsistencyProof && error.message.includes(reason),
      reason,
    )
  }
})

test.run()
