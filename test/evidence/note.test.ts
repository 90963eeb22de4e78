import { generateKeyPairSync } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  formatCheckpoint,
  verifyNote,
  parseCheckpoint,
  parseVerifierKey,
  signNote,
  formatVerifierKey,
} from '../../src/evidence/note.ts'
import { EMPTY_ROOT } from '../../src/evidence/hashes.ts'

const test = suite('a signed note')

/** Key, text and signature from the tests of Go's note package (golang.org/x/mod). */
const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const SIGNATURE =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'

const { privateKey } = generateKeyPairSync('ed25519')
const ours = parseVerifierKey(formatVerifierKey('adamant/1', privateKey))

test('from another implementation is verified', () => {
  assert.is(verifyNote(`${TEXT}\n${SIGNATURE}`, parseVerifierKey(PETER)), TEXT)
})

test('is verified with the key that signed it, even with additional signatures', () => {
  const note = signNote('one\n\ntwo\n', 'adamant/1', privateKey)
  assert.is(verifyNote(note, ours), 'one\n\ntwo\n')
  assert.is(verifyNote(note + SIGNATURE, ours), 'one\n\ntwo\n')
})

test('is rejected if any byte is changed', () => {
  const note = Buffer.from(signNote('one\n', 'adamant/1', privateKey))
  for (let at = 0; at < note.length; at++) {
    const changed = Buffer.from(note)
    changed[at] = (note[at] as number) ^ 1
    assert.throws(() => verifyNote(changed.toString(), ours), /it is|its signature/, `byte ${at}`)
  }
})

test('is rejected with another key, or without a signature', () => {
  const note = signNote('one\n', 'adamant/1', privateKey)
  assert.throws(() => verifyNote(note, parseVerifierKey(PETER)), /it is not signed by the key/)
  assert.throws(() => verifyNote('one\n', ours), /it is not a signed note/)
  assert.throws(() => verifyNote('one\n\n', ours), /it is not a signed note/)
})

test('has a verifier key whose errors are reported', () => {
  assert.throws(() => parseVerifierKey('nonsense'), /NAME\+ID\+KEY/)
  assert.throws(() => parseVerifierKey(PETER.replace('Peter', 'Paul')), /does not match its name and public key/)
  assert.throws(() => parseVerifierKey(PETER.slice(0, -4)), /no.*Ed25519|not that of an Ed25519/)
})

test('contains a checkpoint: origin, size and root', () => {
  const head = { origin: 'adamant/1', size: 0, root: EMPTY_ROOT }
  assert.is(formatCheckpoint(head), 'adamant/1\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n')
  assert.equal(parseCheckpoint(formatCheckpoint(head)), head)
  assert.equal(parseCheckpoint(`${formatCheckpoint(head)}an extension\n`), head)
  for (const text of [
    '',
    'a\n',
    '\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n',
    'a\n01\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n',
    'a\n1\n47DEQpj8\n',
  ]) {
    assert.throws(() => parseCheckpoint(text), /it is not a checkpoint/)
  }
})

test.run()
