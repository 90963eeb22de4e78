import { generateKeyPairSync } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatCheckpoint, signNote, formatVerifierKey } from '../../src/evidence/note.ts'
import { hashLeafEvent, formatHash, type LeafEvent } from '../../src/evidence/hashes.ts'
import { verifyProof, PROOF_FORMAT, type Proof } from '../../src/evidence/proof.ts'
import { inclusionProofRanges } from '../../src/evidence/subtrees.ts'
import { rangeHash } from '../../src/evidence/tiles.ts'
import { InMemoryTree } from './in-memory-tree.ts'

const test = suite('a proof of a diamond')

const ORIGIN = 'adamant/an-identity'
const { privateKey } = generateKeyPairSync('ed25519')
const key = formatVerifierKey(ORIGIN, privateKey)

const event = (stream: string, revision: number, type: string): LeafEvent => {
  const metadata = { actor: 'vendor@example.com', at: '2026-11-22T13:00:00.000Z' }
  return { stream, revision, id: `${stream}/${revision}`, type, data: { carat: 1.2, sku: 'é' }, metadata }
}
const LOG = [
  event('log', 0, 'LogCreated'),
  event('diamond-7', 0, 'DiamondCreated'),
  event('diamond-8', 0, 'DiamondCreated'),
  event('scores-7', 0, 'DiamondScored'),
  event('diamond-7', 1, 'DiamondChanged'),
  event('diamond-7', 2, 'DiamondDeleted'),
]

/** @param indexes of the diamond's events in the log */
async function proofOf(indexes = [1, 3, 4, 5], diamond = 7, size = LOG.length): Promise<Proof> {
  const tree = new InMemoryTree()
  await tree.add(LOG.map(hashLeafEvent))
  const root = await rangeHash(tree.tiles, { begin: 0, end: size })
  const events = indexes.map(async (index) => {
    const hashes = inclusionProofRanges(index, size).map((range) => rangeHash(tree.tiles, range))
    return { index, ...(LOG[index] as LeafEvent), path: (await Promise.all(hashes)).map(formatHash) }
  })
  const checkpoint = signNote(formatCheckpoint({ origin: ORIGIN, size, root }), ORIGIN, privateKey)
  return { format: PROOF_FORMAT, diamond, events: await Promise.all(events), checkpoint, key }
}

const check = (proof: unknown, verifierKey = key) => verifyProof(JSON.stringify(proof), verifierKey)

test('is verified with the key alone, in any order of its members', async () => {
  const proof = await proofOf()
  const ok = { ok: true, diamond: 7, events: 4, size: 6, why: '' }
  assert.equal(check(proof), ok)
  const reversed = proof.events.map((proven) => Object.fromEntries(Object.entries(proven).toReversed()))
  assert.equal(check({ ...proof, events: reversed }), ok)
})

test('is rejected if any byte outside its own copy of the key is changed', async () => {
  const proof = await proofOf()
  const bytes = Buffer.from(JSON.stringify({ ...proof, key: undefined }))
  let harmless = 0
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (bytes[at] as number) ^ 1
    if (verifyProof(changed.toString(), key).ok) harmless++
  }
  assert.is(harmless, 0)
})

test('is rejected if only the key that it contains verifies it', async () => {
  const { privateKey: forger } = generateKeyPairSync('ed25519')
  const proof = await proofOf()
  const [text = ''] = proof.checkpoint.split('\n\n')
  const forged = { ...proof, checkpoint: signNote(`${text}\n`, ORIGIN, forger), key: formatVerifierKey(ORIGIN, forger) }
  assert.match(check(forged).why, /^the checkpoint: it is not signed by the key$/)
  assert.ok(check(forged, forged.key).ok)
})

test('is rejected with the reason if events are missing, from other streams or out of order', async () => {
  assert.match(check(await proofOf([1, 3, 5])).why, /^event 5 is diamond-7@2, expected diamond-7@1$/)
  assert.match(check(await proofOf([3, 4, 5])).why, /^event 4 is diamond-7@1, expected diamond-7@0$/)
  assert.match(check(await proofOf([1, 2])).why, /^event 2 is in stream diamond-8, which does not belong to diamond 7$/)
  assert.match(check(await proofOf([3, 1])).why, /^event 1 comes after event 3$/)
  assert.match(check(await proofOf([3])).why, /^there is no event of diamond-7$/)
})

test('is rejected with the reason if the file or the key is malformed', async () => {
  assert.match(verifyProof('{', key).why, /^the file: .*JSON/)
  for (const text of ['null', '[]', '7', '{"format":"adamant-proof/2"}']) {
    assert.match(verifyProof(text, key).why, /^the file is not a proof in the format adamant-proof\/1$/)
  }
  const proof = await proofOf()
  assert.match(check({ ...proof, events: [] }).why, /^events: must be a non-empty array$/)
  assert.match(check({ ...proof, events: [null] }).why, /^events\[0\]: must be an event$/)
  assert.match(check({ ...proof, events: [{ ...proof.events[0], path: [1] }] }).why, /^events\[0\]: must be an event$/)
  assert.match(check(proof, 'nonsense').why, /^the key: a verifier key has the form NAME\+ID\+KEY/)
  assert.equal(check(proof, 'nonsense').ok, false)
})

test.run()
