import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { resealVault, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { masterKeys, newMasterKey, openSecrets, origin, shareCommand, type SecretsProcess } from './secrets-on-disk.ts'
import { withFolder } from '../../temporary-folder.ts'

const test = suite('a rotation of the master key')

/** No process that holds a claim has ended. */
const never = async () => false

test('seals every entry with the new key, so that the old key is no longer needed', () =>
  withFolder(async (folder) => {
    const [former, current] = [newMasterKey(), newMasterKey()]
    const time = { now: 1000 }
    const before = openSecrets(folder, time, masterKeys(former))
    const shared = await Promise.all(
      Array.from({ length: 230 }, (_, n) =>
        shareSecret(before, shareCommand({ value: `value ${n}`, recipients: ['tom@example.com'] })),
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
    assert.is(after.mailSeal.open(mail?.sealed ?? Buffer.alloc(0), mail?.id ?? '').to, 'tom@example.com')
    await after.close()
  }))

test('skips entries that neither key opens, and counts them', () =>
  withFolder(async (folder) => {
    const before = openSecrets(folder, { now: 1000 }, masterKeys(newMasterKey()))
    await shareSecret(before, shareCommand())
    assert.equal(await resealVault(before.vault, masterKeys(newMasterKey(), newMasterKey())), { sealed: 0, shut: 1 })
    await before.close()
  }))

test.run()
