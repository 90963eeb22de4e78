import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { burnSecret, readReceipt, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { ann, origin, shareCommand, withTwo, type SecretsProcess } from './secrets-on-disk.ts'

const test = suite('a passphrase')
const outcome = (call: Promise<unknown>) =>
  call.then(
    (value) => value,
    (error: unknown) => (error instanceof Error ? error.message : error),
  )

const open = (process: SecretsProcess, secretKey: string, passphrase: string) =>
  outcome(revealSecret(process, { secretKey, passphrase, origin }))

test('that is wrong or missing does not consume the secret', () =>
  withTwo(async (one, other) => {
    const { keys } = await shareSecret(one, shareCommand({ passphrase: 'right' }))
    for (const wrong of ['wrong', '', 'Right', 'right ']) {
      assert.is(await open(other, keys.secretKey, wrong), 'Unknown secret')
      assert.is((await readReceipt(one, keys.metadataKey)).secret.status, 'new')
    }
    assert.is(await open(one, keys.secretKey, 'right'), 'a value')
  }))

test('is blocked for 30 minutes after 5 wrong attempts, even if the next one is right or missing', () =>
  withTwo(async (one, other, time) => {
    const { keys } = await shareSecret(one, shareCommand({ passphrase: 'right' }))
    for (let tried = 0; tried < 5; tried++) assert.is(await open(one, keys.secretKey, 'wrong'), 'Unknown secret')
    for (const any of ['right', 'wrong', '']) assert.match(String(await open(other, keys.secretKey, any)), /Too many/)
    time.now += 30 * 60_000
    assert.is(await open(other, keys.secretKey, 'right'), 'a value')
  }))

test('that is missing does not count as an attempt', () =>
  withTwo(async (one) => {
    const { keys } = await shareSecret(one, shareCommand({ passphrase: 'right' }))
    for (let attempt = 0; attempt < 20; attempt++) assert.is(await open(one, keys.secretKey, ''), 'Unknown secret')
    assert.is(await open(one, keys.secretKey, 'right'), 'a value')
  }))

test('is compared after Unicode normalization', () =>
  withTwo(async (one) => {
    const { keys } = await shareSecret(one, shareCommand({ passphrase: 'sésame' }))
    assert.is(await open(one, keys.secretKey, 'se\u0301same'), 'a value')
  }))

test('is required to burn a secret with its key alone, and counts as an attempt when it is wrong', () =>
  withTwo(async (one, other) => {
    const burn = (given: { passphrase: string; account?: number }) =>
      outcome(burnSecret(other, { metadataKey: keys.metadataKey, account: undefined, origin, ...given }))
    const { keys } = await shareSecret(one, shareCommand({ passphrase: 'right' }))
    assert.is(await burn({ passphrase: '' }), 'Unknown secret')
    assert.is(await burn({ passphrase: '', account: 99 }), 'Unknown secret')
    for (let tried = 0; tried < 5; tried++) assert.is(await burn({ passphrase: 'wrong' }), 'Unknown secret')
    assert.match(String(await burn({ passphrase: 'right' })), /Too many/)
    await burn({ passphrase: '', account: ann.account })
    assert.is((await readReceipt(one, keys.metadataKey)).secret.status, 'burned')
  }))

test('allows burning when it is right', () =>
  withTwo(async (one) => {
    const { keys } = await shareSecret(one, shareCommand({ passphrase: 'right' }))
    const given = { metadataKey: keys.metadataKey, passphrase: 'right', account: undefined, origin }
    assert.is((await burnSecret(one, given)).secret.status, 'burned')
    assert.is(await open(one, keys.secretKey, 'right'), 'Unknown secret')
  }))

test.run()
