import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readReceipt, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { newSecretKeys, secretStream } from '../../../src/credentials/secret-keys.ts'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { SECRET_SWEEPER_JOBS } from '../../../src/reactions/secrets/secret-sweeper.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { runOneRound, startBackgroundServices } from '../../projections/engine/start-background-services.ts'
import { origin, shareCommand, withTwo, type SecretsProcess } from '../../commands/secrets/secrets-on-disk.ts'
import { withFakeTime } from '../../fake-time.ts'
import { until } from '../../until.ts'

const log = createLogger('silent')
const test = suite('the secret sweeper')
const MINUTE = 60_000

const sweep = (secrets: SecretsProcess, isClockSettled = () => true) =>
  runOneRound(SECRET_SWEEPER_JOBS, { secrets, isClockSettled, log })

/** The callback of `claimMail`: no holder has died. */
const noHolderDied = async () => false

test('deletes secrets as they expire, from its start until it is stopped', () =>
  withTwo(async (one, _other, time) => {
    const [first, second, third] = [
      await shareSecret(one, shareCommand({ ttl: 60 })),
      await shareSecret(one, shareCommand({ ttl: 120 })),
      await shareSecret(one, shareCommand({ ttl: 180 })),
    ]
    await withFakeTime(async ({ advance }) => {
      const waitForDeletion = (digest: string) =>
        until('the secret to be deleted', async () => {
          await advance(100)
          return (await one.vault.readSecret(digest)) === undefined
        })
      const stop = await startBackgroundServices(
        { scheduledJobs: SECRET_SWEEPER_JOBS },
        () => ({ secrets: one, isClockSettled: () => true, log }),
        one,
      )
      time.now += MINUTE
      await waitForDeletion(first.keys.digest)
      assert.ok(await one.vault.readSecret(second.keys.digest))
      time.now += MINUTE
      await waitForDeletion(second.keys.digest)
      await stop()
      time.now += MINUTE
      await advance(10 * MINUTE)
      assert.ok(await one.vault.readSecret(third.keys.digest), 'it continued after the stop')
    })
  }))

test('records and deletes expired secrets, once even if two sweepers run', () =>
  withTwo(async (one, other, time) => {
    const shared = await Promise.all(Array.from({ length: 450 }, () => shareSecret(one, shareCommand({ ttl: 60 }))))
    const late = await shareSecret(one, shareCommand({ ttl: 61 }))
    time.now += 60_000
    await Promise.all([sweep(one), sweep(other)])
    for (const { keys } of shared) {
      assert.is(await one.vault.readSecret(keys.digest), undefined)
      const types = (await one.store.readStream(secretStream(keys.digest))).map(({ type }) => type)
      assert.equal(types, ['SecretShared', 'SecretExpired'])
      assert.is((await readReceipt(one, keys.metadataKey)).secret.status, 'expired')
    }
    assert.ok(await one.vault.readSecret(late.keys.digest))
  }))

test('ends nothing by a clock that may be wrong since the start', () =>
  withTwo(async (one, _other, time) => {
    const { keys } = await shareSecret(one, shareCommand({ ttl: 60 }))
    const orphan = newSecretKeys()
    const entry = { digest: orphan.digest, sealed: await one.box.seal('x', orphan, ''), receipt: null }
    await one.vault.put({ ...entry, createdAt: time.now, expiresAt: Infinity }, [])
    const rightTime = time.now
    time.now += 30 * 24 * 60 * MINUTE
    await sweep(one, () => false)
    time.now = rightTime
    assert.is(await revealSecret(one, { secretKey: keys.secretKey, passphrase: '', origin }), 'a value')
    assert.ok(await one.vault.readSecret(orphan.digest))
  }))

/** Appends an event of a newer release to a secret's stream. */
const appendUnreadableEvent = ({ store }: SecretsProcess, digest: string) =>
  store.append(secretStream(digest), 0n, [
    { id: randomUUID(), type: 'SecretBurned', data: {}, metadata: toEventMetadata(origin, 0, '99') },
  ])

test('deletes expired secrets with unreadable events, and all others too', () =>
  withTwo(async (one, _other, time) => {
    const spoilt = await Promise.all(Array.from({ length: 250 }, () => shareSecret(one, shareCommand({ ttl: 60 }))))
    for (const { keys } of spoilt) await appendUnreadableEvent(one, keys.digest)
    const good = await shareSecret(one, shareCommand({ ttl: 60 }))
    time.now += 60_000
    await sweep(one)
    for (const { keys } of [...spoilt, good]) assert.is(await one.vault.readSecret(keys.digest), undefined)
    assert.is((await readReceipt(one, good.keys.metadataKey)).secret.status, 'expired')
    for (const { keys } of spoilt) assert.is((await one.store.readStream(secretStream(keys.digest))).length, 2)
  }))

test('keeps a secret with unreadable events until it expires', () =>
  withTwo(async (one, _other, time) => {
    const { keys } = await shareSecret(one, shareCommand({ ttl: 86_400 }))
    await appendUnreadableEvent(one, keys.digest)
    const orphan = newSecretKeys()
    const entry = { digest: orphan.digest, sealed: await one.box.seal('x', orphan, ''), receipt: null }
    await one.vault.put({ ...entry, createdAt: time.now, expiresAt: Infinity }, [])
    time.now += 11 * MINUTE
    await sweep(one)
    assert.ok(await one.vault.readSecret(keys.digest))
    assert.is(await one.vault.readSecret(orphan.digest), undefined)
    assert.equal(await one.vault.unconfirmed(Infinity, 10), [])
  }))

test('removes a vault entry without a recorded secret after ten minutes, and no other', () =>
  withTwo(async (one, _other, time) => {
    const orphan = newSecretKeys()
    const entry = { digest: orphan.digest, sealed: await one.box.seal('x', orphan, ''), receipt: null }
    await one.vault.put({ ...entry, createdAt: time.now, expiresAt: Infinity }, [])
    const { keys } = await shareSecret(one, shareCommand())
    time.now += 10 * MINUTE
    await sweep(one)
    assert.ok(await one.vault.readSecret(orphan.digest))
    time.now += 1
    await sweep(one)
    assert.is(await one.vault.readSecret(orphan.digest), undefined)
    assert.ok(await one.vault.readSecret(keys.digest))
    assert.equal(await one.vault.unconfirmed(Infinity, 10), [])
  }))

test('keeps the notice of a revealed secret for the mailer, however late it is sent', () =>
  withTwo(async (one, _other, time) => {
    const { keys: read } = await shareSecret(one, shareCommand({ recipients: ['tom@example.com'], notify: true }))
    await revealSecret(one, { secretKey: read.secretKey, passphrase: '', origin })
    time.now += 11 * MINUTE
    await sweep(one)
    assert.is((await one.vault.claimMail(time.now, 'me', noHolderDied))?.id, `${read.digest}/notice`)
  }))

test.run()
