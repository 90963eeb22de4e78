import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { burnSecret, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { secretEndings } from '../../../src/reactions/secrets/secret-sweeper.ts'
import { working } from '../../projections/engine/working.ts'
import {
  openSecrets,
  origin,
  shareCommand,
  withTwo,
  type SecretsProcess,
} from '../../commands/secrets/secrets-on-disk.ts'
import { until } from '../../until.ts'
import { withFolder } from '../../temporary-folder.ts'

const test = suite('what has ended')

/** Follows endings. @returns what stops it */
const ending = ({ store, vault }: SecretsProcess) =>
  working({ reactions: [secretEndings] }, (wakes) => ({ store, vault, withdraw: async () => undefined, ...wakes }), {
    store,
  })
const isGone =
  ({ vault }: SecretsProcess, digest: string) =>
  async () =>
    (await vault.read(digest)) === undefined

/** A secret each that waits, was read, and was burned. */
async function three(process: SecretsProcess) {
  const [waits, read, burned] = [
    await shareSecret(process, shareCommand()),
    await shareSecret(process, shareCommand({ recipients: ['tom@example.com'], notify: true })),
    await shareSecret(process, shareCommand({ notify: true })),
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
    const stop = await ending(other)
    await until('both to be deleted', async () => (await isGone(one, read.digest)()) && isGone(one, burned.digest)())
    assert.ok(await one.vault.read(waits.digest))
    const mail = await one.vault.claimMail(1e15, 'me', never)
    assert.is(mail?.id, `${read.digest}/notice`)
    assert.is(await one.vault.claimMail(1e15, 'me', never), undefined)
    await stop()
  }))

test('is not gone through again from the checkpoint on, and again from the start for another log', () =>
  withFolder(async (folder) => {
    const time = { now: 1000 }
    const first = openSecrets(folder, time)
    const { read } = await three(first)
    const stop = await ending(first)
    await until('the deletion', isGone(first, read.digest))
    await until('the checkpoint', async () => (await first.vault.checkpoint()) !== undefined)
    await stop()
    const { log: identity } = (await first.vault.checkpoint()) ?? {}
    assert.is(identity, await first.store.identity())
    await first.close()
    rmSync(join(folder, 'events.db'))
    const second = openSecrets(folder, time)
    const { burned } = await three(second)
    const stopAgain = await ending(second)
    await until('the deletion after the log was replaced', isGone(second, burned.digest))
    await stopAgain()
    await second.close()
  }))

test.run()
