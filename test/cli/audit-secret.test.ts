import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { auditSecret } from '../../src/cli/audit-secret.ts'
import { burnSecret } from '../../src/commands/secrets/burn-secret.ts'
import { recordMail } from '../../src/commands/secrets/record-mail.ts'
import { revealSecret } from '../../src/commands/secrets/reveal-secret.ts'
import { shareSecret } from '../../src/commands/secrets/share-secret.ts'
import { origin, wish, withTwo } from '../commands/secrets/secrets-on-disk.ts'

const test = suite('the audit of a secret')

test('tells who did what and when, by digest and by either key, and nothing that opens it', () =>
  withTwo(async (one, _other, time) => {
    const by = { ...origin, actor: 'account-1' }
    const asked = wish({ passphrase: 'p4ss', recipients: ['tom@example.com'], notify: true, origin: by })
    const { keys } = await shareSecret(one, asked)
    await recordMail(one, keys.digest, { mail: 'link', messageId: '<a@b>', refused: 'SMTP 550 5.1.1' })
    time.now += 5000
    await revealSecret(one, { secretKey: keys.secretKey, passphrase: 'wrong', origin }).catch(() => undefined)
    await burnSecret(one, { metadataKey: keys.metadataKey, passphrase: '', account: 1, origin: by })
    const lines = await auditSecret(one.store, keys.digest)
    assert.equal(
      lines.map(({ at, what, who, via, detail }) => [at.slice(11, 19), what, who, via, detail]),
      [
        [
          '00:00:00',
          'SecretShared',
          'account-1',
          'http',
          'shared, for 3600 s, with a passphrase, to to*****@e*****.com, owner is told',
        ],
        ['00:00:00', 'MailRefused', 'mailer', 'projection', 'link <a@b>: SMTP 550 5.1.1'],
        ['00:00:05', 'PassphraseTried', 'anonymous', 'http', 'to reveal it'],
        ['00:00:05', 'SecretBurned', 'account-1', 'http', 'by its owner'],
      ],
    )
    for (const id of [`secret-${keys.digest}`, keys.metadataKey, keys.secretKey])
      assert.equal(await auditSecret(one.store, id), lines)
    assert.is((await auditSecret(one.store, keys.digest, time.now - 1)).length, 2)
    for (const hidden of [keys.secretKey, keys.metadataKey, 'p4ss', 'tom@', 'a value'])
      assert.not.ok(JSON.stringify(lines).includes(hidden))
  }))

test('of a secret that never was says so, and does not repeat the key', () =>
  withTwo(async (one) => {
    const key = 'k'.repeat(50)
    const error = await auditSecret(one.store, key).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.match(String(error), /There is no secret of this id/)
    assert.not.ok(String(error).includes(key))
  }))

test.run()
