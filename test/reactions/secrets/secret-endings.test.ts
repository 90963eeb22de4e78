import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { burnSecret } from '../../../src/commands/secrets/burn-secret.ts'
import { metadata } from '../../../src/events/origin.ts'
import { readReceipt } from '../../../src/commands/secrets/read-receipt.ts'
import { resealVault } from '../../../src/commands/secrets/reseal-vault.ts'
import { revealSecret } from '../../../src/commands/secrets/reveal-secret.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { newSecretKeys, secretStream } from '../../../src/credentials/secret-keys.ts'
import { openLog } from '../../../src/runtime/log.ts'
import { SecretEndings } from '../../../src/reactions/secrets/secret-endings.ts'
import { SecretSweeper } from '../../../src/reactions/secrets/secret-sweeper.ts'
import { until } from '../../api/harness/postbox.ts'
import {
  masterKeys,
  newMasterKey,
  openSecrets,
  origin,
  wish,
  withFolder,
  withTwo,
  type SecretsProcess,
} from '../../commands/secrets/secrets-on-disk.ts'

const log = openLog('silent')
const test = suite('what has ended')
const MINUTE = 60_000

const endingsOf = ({ store, vault }: SecretsProcess) =>
  new SecretEndings({ store, vault, log, mailDue: () => undefined, withdraw: async () => undefined })
const isGone =
  ({ vault }: SecretsProcess, digest: string) =>
  async () =>
    (await vault.read(digest)) === undefined

/** A secret each that waits, was read, and was burned. */
async function three(process: SecretsProcess) {
  const [waits, read, burned] = [
    await shareSecret(process, wish()),
    await shareSecret(process, wish({ recipients: ['tom@example.com'], notify: true })),
    await shareSecret(process, wish({ notify: true })),
  ]
  await revealSecret(process, { secretKey: read.keys.secretKey, passphrase: '', origin })
  await burnSecret(process, { metadataKey: burned.keys.metadataKey, passphrase: '', account: undefined, origin })
  return { waits: waits.keys, read: read.keys, burned: burned.keys }
}

/** Of claims: nobody has ended. */
const never = async () => false

test('is deleted from the vault, also what a crash left behind; the notice alone falls due', () =>
  withTwo(async (one, other) => {
    const { waits, read, burned } = await three(one)
    const endings = endingsOf(other)
    endings.start()
    await until('both to be deleted', async () => (await isGone(one, read.digest)()) && isGone(one, burned.digest)())
    assert.ok(await one.vault.read(waits.digest))
    const mail = await one.vault.claimMail(1e15, 'me', never)
    assert.is(mail?.id, `${read.digest}/notice`)
    assert.is(await one.vault.claimMail(1e15, 'me', never), undefined)
    await endings.stop()
  }))

test('is not gone through again from the checkpoint on, and again from the start for another log', () =>
  withFolder(async (folder) => {
    const time = { now: 1000 }
    const first = openSecrets(folder, time)
    const { read } = await three(first)
    const endings = endingsOf(first)
    endings.start()
    await until('the deletion', isGone(first, read.digest))
    await until('the checkpoint', async () => (await first.vault.checkpoint()) !== undefined)
    await endings.stop()
    const { log: identity } = (await first.vault.checkpoint()) ?? {}
    assert.is(identity, await first.store.identity())
    await first.close()
    rmSync(join(folder, 'events.db'))
    const second = openSecrets(folder, time)
    const { burned } = await three(second)
    const again = endingsOf(second)
    again.start()
    await until('the deletion after the log was replaced', isGone(second, burned.digest))
    await again.stop()
    await second.close()
  }))

test('by its time is recorded and deleted by the sweeper, once for two of them', () =>
  withTwo(async (one, other, time) => {
    const shared = await Promise.all(Array.from({ length: 450 }, () => shareSecret(one, wish({ ttl: 60 }))))
    const late = await shareSecret(one, wish({ ttl: 61 }))
    time.now += 60_000
    await Promise.all([new SecretSweeper(one, log).sweep(), new SecretSweeper(other, log).sweep()])
    for (const { keys } of shared) {
      assert.is(await one.vault.read(keys.digest), undefined)
      const types = (await one.store.read(secretStream(keys.digest))).map(({ type }) => type)
      assert.equal(types, ['SecretShared', 'SecretExpired'])
      assert.is((await readReceipt(one, keys.metadataKey)).secret.status, 'expired')
    }
    assert.ok(await one.vault.read(late.keys.digest))
  }))

/** Appends an event of a newer release to a secret's stream. */
const spoil = ({ store }: SecretsProcess, digest: string) =>
  store.append(secretStream(digest), 0n, [
    { id: randomUUID(), type: 'SecretBurned', data: {}, metadata: metadata(origin, 0, '99') },
  ])

test('by its time is deleted by the sweeper where its events are not understood, and others with it', () =>
  withTwo(async (one, _other, time) => {
    const spoilt = await Promise.all(Array.from({ length: 250 }, () => shareSecret(one, wish({ ttl: 60 }))))
    for (const { keys } of spoilt) await spoil(one, keys.digest)
    const good = await shareSecret(one, wish({ ttl: 60 }))
    time.now += 60_000
    await new SecretSweeper(one, log).sweep()
    for (const { keys } of [...spoilt, good]) assert.is(await one.vault.read(keys.digest), undefined)
    assert.is((await readReceipt(one, good.keys.metadataKey)).secret.status, 'expired')
    for (const { keys } of spoilt) assert.is((await one.store.read(secretStream(keys.digest))).length, 2)
  }))

test('or waits is left alone by the sweeper for as long where its events are not understood', () =>
  withTwo(async (one, _other, time) => {
    const { keys } = await shareSecret(one, wish({ ttl: 86_400 }))
    await spoil(one, keys.digest)
    const orphan = newSecretKeys()
    const entry = { digest: orphan.digest, sealed: await one.box.seal('x', orphan, ''), receipt: null }
    await one.vault.put({ ...entry, createdAt: time.now, expiresAt: Infinity }, [])
    time.now += 11 * MINUTE
    await new SecretSweeper(one, log).sweep()
    assert.ok(await one.vault.read(keys.digest))
    assert.is(await one.vault.read(orphan.digest), undefined)
    assert.equal(await one.vault.unconfirmed(Infinity, 10), [])
  }))

test('before its share was recorded goes ten minutes later, and not one that was', () =>
  withTwo(async (one, _other, time) => {
    const orphan = newSecretKeys()
    const entry = { digest: orphan.digest, sealed: await one.box.seal('x', orphan, ''), receipt: null }
    await one.vault.put({ ...entry, createdAt: time.now, expiresAt: Infinity }, [])
    const { keys } = await shareSecret(one, wish())
    const sweeper = new SecretSweeper(one, log)
    time.now += 10 * MINUTE
    await sweeper.sweep()
    assert.ok(await one.vault.read(orphan.digest))
    time.now += 1
    await sweeper.sweep()
    assert.is(await one.vault.read(orphan.digest), undefined)
    assert.ok(await one.vault.read(keys.digest))
    assert.equal(await one.vault.unconfirmed(Infinity, 10), [])
  }))

test('leaves the notice of a secret that was read to the mailer, however late it comes', () =>
  withTwo(async (one, _other, time) => {
    const { read } = await three(one)
    time.now += 11 * MINUTE
    await new SecretSweeper(one, log).sweep()
    assert.is((await one.vault.claimMail(time.now, 'me', never))?.id, `${read.digest}/notice`)
  }))

test.run()

const rotation = suite('a rotation of the master key')

rotation('seals everything again, so that the former key can go, and loses nothing', () =>
  withFolder(async (folder) => {
    const [former, current] = [newMasterKey(), newMasterKey()]
    const time = { now: 1000 }
    const before = openSecrets(folder, time, masterKeys(former))
    const shared = await Promise.all(
      Array.from({ length: 230 }, (_, n) =>
        shareSecret(before, wish({ value: `value ${n}`, recipients: ['tom@example.com'] })),
      ),
    )
    await before.close()

    const between = openSecrets(folder, time, masterKeys(current, former))
    const [first] = shared
    const reading = (process: SecretsProcess, secretKey = '') =>
      revealSecret(process, { secretKey, passphrase: '', origin })
    assert.is(await reading(between, first?.keys.secretKey), 'value 0')
    assert.equal(await resealVault(between.vault, between.keys), { sealed: 460, shut: 0 })
    assert.equal(await resealVault(between.vault, between.keys), { sealed: 0, shut: 0 })
    await between.close()

    const after = openSecrets(folder, time, masterKeys(current))
    for (const [n, { keys }] of shared.slice(1).entries())
      assert.is(await reading(after, keys.secretKey), `value ${n + 1}`)
    const mail = await after.vault.claimMail(1e15, 'me', never)
    assert.is(after.letters.open(mail?.sealed ?? Buffer.alloc(0), mail?.id ?? '').to, 'tom@example.com')
    await after.close()
  }),
)

rotation('leaves alone what neither key opens, and says how much that is', () =>
  withFolder(async (folder) => {
    const before = openSecrets(folder, { now: 1000 }, masterKeys(newMasterKey()))
    await shareSecret(before, wish())
    assert.equal(await resealVault(before.vault, masterKeys(newMasterKey(), newMasterKey())), { sealed: 0, shut: 1 })
    await before.close()
  }),
)

rotation.run()
