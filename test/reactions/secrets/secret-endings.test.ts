import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { burnSecret, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { secretEndings } from '../../../src/reactions/secrets/secret-sweeper.ts'
import { startBackgroundServices } from '../../projections/engine/start-background-services.ts'
import {
  openSecrets,
  origin,
  shareCommand,
  withTwo,
  type SecretsProcess,
} from '../../commands/secrets/secrets-on-disk.ts'
import { until } from '../../until.ts'
import { withFolder } from '../../temporary-folder.ts'

const test = suite('a secret that has ended')

/** Starts the reaction to endings. @returns a function that stops it */
const startEndings = ({ store, vault }: SecretsProcess) =>
  startBackgroundServices(
    { reactions: [secretEndings] },
    (wakes) => ({ store, vault, withdraw: async () => undefined, ...wakes }),
    {
      store,
    },
  )
const isDeleted =
  ({ vault }: SecretsProcess, digest: string) =>
  async () =>
    (await vault.readSecret(digest)) === undefined

/** Shares three secrets: one stays pending, one is revealed, one is burned. */
async function shareThree(process: SecretsProcess) {
  const [waits, read, burned] = [
    await shareSecret(process, shareCommand()),
    await shareSecret(process, shareCommand({ recipients: ['tom@example.com'], notify: true })),
    await shareSecret(process, shareCommand({ notify: true })),
  ]
  await revealSecret(process, { secretKey: read.keys.secretKey, passphrase: '', origin })
  await burnSecret(process, { metadataKey: burned.keys.metadataKey, passphrase: '', account: undefined, origin })
  return { waits: waits.keys, read: read.keys, burned: burned.keys }
}

/** The callback of `claimMail`: no holder has died. */
const noHolderDied = async () => false

test('is deleted from the vault, also if it ended before the start, and only its notice becomes due', () =>
  withTwo(async (one, other) => {
    const { waits, read, burned } = await shareThree(one)
    const stop = await startEndings(other)
    await until(
      'both to be deleted',
      async () => (await isDeleted(one, read.digest)()) && isDeleted(one, burned.digest)(),
    )
    assert.ok(await one.vault.readSecret(waits.digest))
    const mail = await one.vault.claimMail(1e15, 'me', noHolderDied)
    assert.is(mail?.id, `${read.digest}/notice`)
    assert.is(await one.vault.claimMail(1e15, 'me', noHolderDied), undefined)
    await stop()
  }))

test('is processed once per log: from the checkpoint of the same log, from the start of another log', () =>
  withFolder(async (folder) => {
    const time = { now: 1000 }
    const first = openSecrets(folder, time)
    const { read } = await shareThree(first)
    const stop = await startEndings(first)
    await until('the deletion', isDeleted(first, read.digest))
    await until('the checkpoint', async () => (await first.vault.checkpoint()) !== undefined)
    await stop()
    const { log: identity } = (await first.vault.checkpoint()) ?? {}
    assert.is(identity, await first.store.identity())
    await first.close()
    rmSync(join(folder, 'events.db'))
    const second = openSecrets(folder, time)
    const { burned } = await shareThree(second)
    const stopAgain = await startEndings(second)
    await until('the deletion after the log was replaced', isDeleted(second, burned.digest))
    await stopAgain()
    await second.close()
  }))

test.run()
