import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { burnSecret, readReceipt, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { secretStream } from '../../../src/credentials/secret-keys.ts'
import { OutcomeUnknown, StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { everyAttempt, faultyStore, type FaultyStore } from '../../stores/faulty-store.ts'
import { origin, shareCommand, withTwo, type SecretsProcess } from './secrets-on-disk.ts'

const test = suite('an append to a secret with an unknown outcome')

/** A process whose store fails on demand, and another one without faults. */
const withFaults = (run: (faulty: SecretsProcess, store: FaultyStore, healthy: SecretsProcess) => Promise<void>) =>
  withTwo((one, other) => {
    const store = faultyStore(one.store)
    return run({ ...one, store }, store, other)
  })

const reveal = (process: SecretsProcess, secretKey: string) =>
  revealSecret(process, { secretKey, passphrase: '', origin })
const failed = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  )

test('that was stored reveals the value to its caller only', () =>
  withFaults(async (faulty, store, healthy) => {
    const { keys } = await shareSecret(faulty, shareCommand())
    store.failNext('stored')
    assert.is(await reveal(faulty, keys.secretKey), 'a value')
    const types = (await healthy.store.readStream(secretStream(keys.digest))).map(({ type }) => type)
    assert.equal(types, ['SecretShared', 'SecretRevealed'])
    assert.match(String(await failed(reveal(healthy, keys.secretKey))), /Unknown secret/)
  }))

test('that was lost is retried', () =>
  withFaults(async (faulty, store) => {
    const { keys } = await shareSecret(faulty, shareCommand())
    store.failNext('lost', 'lost')
    assert.is(await reveal(faulty, keys.secretKey), 'a value')
  }))

test('that stays unknown and is stored later reveals the value to no caller', () =>
  withFaults(async (faulty, store, healthy) => {
    const { keys } = await shareSecret(faulty, shareCommand())
    store.failNext(...everyAttempt('late'))
    assert.ok((await failed(reveal(faulty, keys.secretKey))) instanceof OutcomeUnknown)
    await store.storeLateAppends()
    assert.match(String(await failed(reveal(healthy, keys.secretKey))), /Unknown secret/)
  }))

test('that the store refuses does not consume the secret', () =>
  withFaults(async (faulty, store, healthy) => {
    const { keys } = await shareSecret(faulty, shareCommand())
    store.failNext('unavailable', 'unavailable')
    assert.ok((await failed(reveal(faulty, keys.secretKey))) instanceof StoreUnavailable)
    const burning = burnSecret(faulty, { metadataKey: keys.metadataKey, passphrase: '', account: undefined, origin })
    assert.ok((await failed(burning)) instanceof StoreUnavailable)
    assert.is((await readReceipt(healthy, keys.metadataKey)).secret.status, 'new')
    assert.is(await reveal(healthy, keys.secretKey), 'a value')
  }))

test('is retried when the secret is shared, and shares it once', () =>
  withFaults(async (faulty, store, healthy) => {
    store.failNext('stored', 'lost')
    const { keys } = await shareSecret(faulty, shareCommand())
    assert.is((await healthy.store.readStream(secretStream(keys.digest))).length, 1)
    assert.is(await reveal(healthy, keys.secretKey), 'a value')
  }))

test('that shares a secret leaves nothing in the vault when the store refuses it', () =>
  withFaults(async (faulty, store, healthy) => {
    store.failNext('unavailable')
    const sharing = shareSecret(faulty, shareCommand({ recipients: ['tom@example.com'] }))
    assert.ok((await failed(sharing)) instanceof StoreUnavailable)
    assert.equal(await healthy.vault.unconfirmed(Infinity, 10), [])
  }))

test.run()
