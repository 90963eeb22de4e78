import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { auditSecret } from '../../../src/cli/audit/secret.ts'
import type { SecretKeys } from '../../../src/credentials/secret-keys.ts'
import { burnSecret, recordMail, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { origin, shareCommand, withTwo } from '../../commands/secrets/secrets-on-disk.ts'

const test = suite('the audit of a secret')

test('shows each action with its time and origin, by digest or by either key, and no confidential value', () =>
  withTwo(async (one, _other, time) => {
    const by = { ...origin, actor: 'account-1' }
    const request = shareCommand({ passphrase: 'p4ss', recipients: ['tom@example.com'], notify: true, origin: by })
    const { keys } = await shareSecret(one, request)
    await recordMail(one, keys.digest, { mail: 'link', messageId: '<a@b>', refused: 'SMTP 550 5.1.1' })
    time.now += 5000
    await revealSecret(one, { secretKey: keys.secretKey, passphrase: 'wrong', origin }).catch(() => undefined)
    await burnSecret(one, { metadataKey: keys.metadataKey, passphrase: '', account: 1, origin: by })
    const history = await auditSecret.loadHistory(one, keys.digest)
    const entries = await history.entries()
    assert.equal(
      entries.map(({ at, type, by, detail }) => [at.slice(11, 19), type, by?.via ?? 'the service', detail]),
      [
        ['00:00:00', 'shared', 'http', 'for 3600 s, with the API token abc'],
        ['00:00:00', 'mail refused', 'the service', 'link <a@b>: SMTP 550 5.1.1'],
        ['00:00:05', 'passphrase tried', 'http', 'to reveal it'],
        ['00:00:05', 'burned', 'http', 'by its owner'],
      ],
    )
    assert.equal(entries.at(-1)?.changes, [
      { field: 'status', from: 'new', to: 'burned' },
      { field: 'wrongPassphrases', from: null, to: 1 },
    ])
    assert.equal(history.stateAt?.(time.now - 1), {
      status: 'new',
      kind: 'shared',
      passphrase: true,
      recipients: 'to*****@e*****.com',
      ownerIsTold: true,
      ends: entries[0]?.changes.find(({ field }) => field === 'ends')?.to,
      passphraseAttempts: 0,
      wrongPassphrases: null,
      lockedUntil: null,
    })
    assert.is(history.stateAt?.(0), null)
    for (const id of [`secret-${keys.digest}`, keys.metadataKey, keys.secretKey]) {
      assert.equal(await (await auditSecret.loadHistory(one, id)).entries(), entries)
    }
    for (const hidden of [keys.secretKey, keys.metadataKey, 'p4ss', 'tom@', 'a value'])
      assert.not.ok(JSON.stringify([entries, history.stateAt?.(time.now)]).includes(hidden))
  }))

test('counts passphrases as wrong when the secret ends: a right one never, not even as the fifth', () =>
  withTwo(async (one) => {
    const endings = {
      revealed: ({ secretKey }: SecretKeys) => revealSecret(one, { secretKey, passphrase: 'p4ss', origin }),
      burned: ({ metadataKey }: SecretKeys) =>
        burnSecret(one, { metadataKey, passphrase: 'p4ss', account: undefined, origin }),
    }
    for (const [ending, end] of Object.entries(endings)) {
      const { keys } = await shareSecret(one, shareCommand({ passphrase: 'p4ss' }))
      for (let wrong = 0; wrong < 4; wrong++)
        await revealSecret(one, { secretKey: keys.secretKey, passphrase: 'wrong', origin }).catch(() => undefined)
      await end(keys)
      const entries = await (await auditSecret.loadHistory(one, keys.digest)).entries()
      const wrongCounts = entries.flatMap(({ type, changes }) =>
        changes.filter(({ field }) => field === 'wrongPassphrases').map(({ from, to }) => [type, from, to]),
      )
      assert.equal(wrongCounts, [[ending, null, 4]])
      const state = (await auditSecret.loadHistory(one, keys.digest)).stateAt?.(Infinity)
      assert.equal([state?.['passphraseAttempts'], state?.['lockedUntil']], [5, null])
    }
  }))

test('fails for an unknown secret, without repeating the key', () =>
  withTwo(async (one) => {
    const key = 'k'.repeat(50)
    const error = await auditSecret.loadHistory(one, key).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.match(String(error), /No such secret/)
    assert.not.ok(String(error).includes(key))
  }))

test.run()
