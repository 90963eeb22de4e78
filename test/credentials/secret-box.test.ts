import * as fc from '../fast-check.ts'
import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openMasterKeys } from '../../src/credentials/master-keys.ts'
import { Passphrases } from '../../src/credentials/passphrases.ts'
import { openReceipt, SealedByAnotherKey, sealReceipt } from '../../src/credentials/sealing.ts'
import { SecretBox } from '../../src/credentials/secret-box.ts'
import { CHEAP_HASHES } from './cheap-hashes.ts'
import { digestOfSecretKey, keysOfMetadataKey, newSecretKeys } from '../../src/credentials/secret-keys.ts'

const master = () => randomBytes(32).toString('base64')
const boxOf = (masterKey: string, masterKeyOld?: string) =>
  new SecretBox(openMasterKeys({ dataDir: '', masterKey, masterKeyOld }), new Passphrases(), CHEAP_HASHES.passphrases)
const KEY = master()
const box = boxOf(KEY)
const test = suite('a sealed secret')

test('is opened by its key, whatever it says', () =>
  fc.assert(
    fc.asyncProperty(fc.anyText(), async (value) => {
      const keys = newSecretKeys()
      const inner = box.outerOpened(await box.seal(value, keys, ''), keys.digest)
      return box.open(inner, keys) === value
    }),
  ))

test('stays shut for another key, for another digest, and for who has the master key only', async () => {
  const [keys, others] = [newSecretKeys(), newSecretKeys()]
  const sealed = await box.seal('value', keys, '')
  assert.throws(
    () => box.outerOpened(sealed, others.digest),
    (error: unknown) => error instanceof SealedByAnotherKey,
  )
  const inner = box.outerOpened(sealed, keys.digest)
  assert.is(box.open(inner, others), undefined)
  assert.is(box.open(inner, { ...keys, secretKey: keys.metadataKey }), undefined)
})

test('with a passphrase stays shut without it, key or no key', async () => {
  const keys = newSecretKeys()
  const inner = box.outerOpened(await box.seal('value', keys, 'right'), keys.digest)
  assert.is(box.open(inner, keys), undefined)
  assert.is(await box.openWith(box.enter({ purpose: 'read' }), 'wrong', inner, keys), undefined)
  assert.is(await box.openWith(box.enter({ purpose: 'read' }), 'right', inner, keys), 'value')
})

test('is opened by the master key before the rotation, and by no third one', async () => {
  const keys = newSecretKeys()
  const sealed = await box.seal('value', keys, '')
  assert.is(box.open(boxOf(master(), KEY).outerOpened(sealed, keys.digest), keys), 'value')
  assert.throws(() => boxOf(master(), master()).outerOpened(sealed, keys.digest), /sealed with the master key/)
})

test('is found by either key, and the secret key does not lead to the metadata key', () => {
  const keys = newSecretKeys()
  assert.equal(keysOfMetadataKey(keys.metadataKey), keys)
  assert.is(digestOfSecretKey(keys.secretKey), keys.digest)
  assert.is.not(keysOfMetadataKey(keys.secretKey)?.digest, keys.digest)
  for (const no of ['', 'x', `${keys.secretKey}a`, keys.secretKey.toUpperCase(), `${keys.secretKey}\n`])
    assert.is(digestOfSecretKey(no), undefined)
})

test('has a receipt that only the API token opens which it was shared with', () => {
  const { metadataKey, digest } = newSecretKeys()
  const sealed = sealReceipt('token', metadataKey, digest)
  assert.is(openReceipt('token', sealed, digest), metadataKey)
  assert.is(openReceipt('other', sealed, digest), undefined)
  assert.not.ok(sealed.includes(Buffer.from(metadataKey)))
})

test('waits in a queue of 32 behind the one that is stretched, and the next is told to come back', async () => {
  const passphrases = new Passphrases()
  const places = Array.from({ length: 33 }, () => passphrases.enter({ purpose: 'read' }))
  assert.throws(() => passphrases.enter({ purpose: 'read' }), /Too many passphrases/)
  places[0]?.leave()
  places[0]?.leave()
  passphrases.enter({ purpose: 'read' })
  assert.throws(() => passphrases.enter({ purpose: 'read' }), /Too many passphrases/)
  await places[1]?.stretch('p', Buffer.from('salt'), CHEAP_HASHES.passphrases)
  passphrases.enter({ purpose: 'read' })
})

test.run()
