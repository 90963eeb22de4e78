import * as fc from '../fast-check.ts'
import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openMasterKeys } from '../../src/credentials/master-keys.ts'
import { PassphraseKdf } from '../../src/credentials/passphrase-kdf.ts'
import { openReceipt, SealedByAnotherKey, sealReceipt } from '../../src/credentials/sealing.ts'
import { SecretBox } from '../../src/credentials/secret-box.ts'
import { CHEAP_HASHES } from './cheap-hashes.ts'
import { parseSecretKeyDigest, parseMetadataKey, newSecretKeys } from '../../src/credentials/secret-keys.ts'

const master = () => randomBytes(32).toString('base64')
const boxOf = (masterKey: string, masterKeyOld?: string) =>
  new SecretBox(openMasterKeys({ dataDir: '', masterKey, masterKeyOld }), new PassphraseKdf(), CHEAP_HASHES.passphrases)
const KEY = master()
const box = boxOf(KEY)
const test = suite('a sealed secret')

test('is opened with its key, for any text', () =>
  fc.assert(
    fc.asyncProperty(fc.anyText(), async (value) => {
      const keys = newSecretKeys()
      const inner = box.openOuter(await box.seal(value, keys, ''), keys.digest)
      return box.open(inner, keys) === value
    }),
  ))

test('is not opened with another key, another digest, or the master key alone', async () => {
  const [keys, others] = [newSecretKeys(), newSecretKeys()]
  const sealed = await box.seal('value', keys, '')
  assert.throws(
    () => box.openOuter(sealed, others.digest),
    (error: unknown) => error instanceof SealedByAnotherKey,
  )
  const inner = box.openOuter(sealed, keys.digest)
  assert.is(box.open(inner, others), undefined)
  assert.is(box.open(inner, { ...keys, secretKey: keys.metadataKey }), undefined)
})

test('with a passphrase is not opened without it, even with the right key', async () => {
  const keys = newSecretKeys()
  const inner = box.openOuter(await box.seal('value', keys, 'right'), keys.digest)
  assert.is(box.open(inner, keys), undefined)
  assert.is(await box.openWithPassphrase(box.acquireSlot({ purpose: 'read' }), 'wrong', inner, keys), undefined)
  assert.is(await box.openWithPassphrase(box.acquireSlot({ purpose: 'read' }), 'right', inner, keys), 'value')
})

test('is opened with the master key before the rotation, and with no other key', async () => {
  const keys = newSecretKeys()
  const sealed = await box.seal('value', keys, '')
  assert.is(box.open(boxOf(master(), KEY).openOuter(sealed, keys.digest), keys), 'value')
  assert.throws(() => boxOf(master(), master()).openOuter(sealed, keys.digest), /sealed with the master key/)
})

test('is found by its secret key and its metadata key, and the secret key does not reveal the metadata key', () => {
  const keys = newSecretKeys()
  assert.equal(parseMetadataKey(keys.metadataKey), keys)
  assert.is(parseSecretKeyDigest(keys.secretKey), keys.digest)
  assert.is.not(parseMetadataKey(keys.secretKey)?.digest, keys.digest)
  for (const no of ['', 'x', `${keys.secretKey}a`, keys.secretKey.toUpperCase(), `${keys.secretKey}\n`])
    assert.is(parseSecretKeyDigest(no), undefined)
})

test('has a receipt that only the API token that shared it opens', () => {
  const { metadataKey, digest } = newSecretKeys()
  const sealed = sealReceipt('token', metadataKey, digest)
  assert.is(openReceipt('token', sealed, digest), metadataKey)
  assert.is(openReceipt('other', sealed, digest), undefined)
  assert.not.ok(sealed.includes(Buffer.from(metadataKey)))
})

test('waits in a queue of 32 behind the running key derivation, and the next request is rejected', async () => {
  const passphrases = new PassphraseKdf()
  const slots = Array.from({ length: 33 }, () => passphrases.acquireSlot({ purpose: 'read' }))
  assert.throws(() => passphrases.acquireSlot({ purpose: 'read' }), /Too many passphrases/)
  slots[0]?.release()
  slots[0]?.release()
  passphrases.acquireSlot({ purpose: 'read' })
  assert.throws(() => passphrases.acquireSlot({ purpose: 'read' }), /Too many passphrases/)
  await slots[1]?.deriveKey('p', Buffer.from('salt'), CHEAP_HASHES.passphrases)
  passphrases.acquireSlot({ purpose: 'read' })
})

test.run()
