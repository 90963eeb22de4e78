import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { burnSecret, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { secretStream } from '../../../src/credentials/secret-keys.ts'
import { rounds } from '../../rounds.ts'
import { origin, succeeded, shareCommand, withTwo, type SecretsProcess } from './secrets-on-disk.ts'

const test = suite('a race for a secret')
const ROUNDS = rounds(30, 1_000)

const reveal = (process: SecretsProcess, secretKey: string, passphrase = '') =>
  revealSecret(process, { secretKey, passphrase, origin })
const burn = (process: SecretsProcess, metadataKey: string) =>
  burnSecret(process, { metadataKey, passphrase: '', account: undefined, origin })

/** Makes `count` calls, alternating between the two processes. */
const alternating = <Result>(
  one: SecretsProcess,
  other: SecretsProcess,
  count: number,
  call: (p: SecretsProcess) => Result,
) => Array.from({ length: count }, (_, n) => call(n % 2 === 0 ? one : other))

test('has one winning reader, even if all readers send the same request id', () =>
  withTwo(async (one, other) => {
    for (let round = 0; round < ROUNDS; round++) {
      const { keys } = await shareSecret(one, shareCommand())
      const calls = alternating(one, other, 8, (process) => reveal(process, keys.secretKey))
      assert.is(await succeeded(calls, 'Unknown secret'), 1)
    }
  }))

test('between a reader and a burner has one winner', () =>
  withTwo(async (one, other) => {
    for (let round = 0; round < ROUNDS; round++) {
      const { keys } = await shareSecret(one, shareCommand())
      const [reader, burner] = round % 2 === 0 ? [one, other] : [other, one]
      const calls = [burn(burner, keys.metadataKey), reveal(reader, keys.secretKey)]
      assert.is(await succeeded(calls, 'Unknown secret'), 1)
    }
  }))

/** The process with its appends blocked until `release` is called. */
function withBlockedAppends(process: SecretsProcess) {
  const [append, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const store: SecretsProcess['store'] = {
    ...process.store,
    async append(...args) {
      append.resolve()
      await release.promise
      return process.store.append(...args)
    },
  }
  return { process: { ...process, store }, appends: append.promise, release: release.resolve }
}

for (const [winner, first, second, type] of [
  ['reader', 'reveal', 'burn', 'SecretRevealed'],
  ['burner', 'burn', 'reveal', 'SecretBurned'],
] as const) {
  test(`is won by the ${winner} that appends first, even if the other decided earlier`, () =>
    withTwo(async (one, other) => {
      const { keys } = await shareSecret(one, shareCommand())
      const late = withBlockedAppends(other)
      const call = {
        reveal: (process: SecretsProcess) => reveal(process, keys.secretKey),
        burn: (process: SecretsProcess) => burn(process, keys.metadataKey),
      }
      const losing = succeeded([call[second](late.process)], 'Unknown secret')
      await late.appends
      await call[first](one)
      late.release()
      assert.is(await losing, 0)
      assert.is((await one.store.readStream(secretStream(keys.digest))).at(-1)?.type, type)
    }))
}

test('among passphrase guesses allows at most five attempts', () =>
  withTwo(async (one, other) => {
    const { keys } = await shareSecret(one, shareCommand({ passphrase: 'right' }))
    const calls = alternating(one, other, 20, (process) => reveal(process, keys.secretKey, 'wrong'))
    await Promise.allSettled(calls)
    const events = await one.store.readStream(secretStream(keys.digest))
    assert.is(events.filter(({ type }) => type === 'PassphraseTried').length, 5)
    assert.is(events.filter(({ type }) => type === 'SecretRevealed').length, 0)
  }))

test('with the right passphrase has one reader', () =>
  withTwo(async (one, other) => {
    const { keys } = await shareSecret(one, shareCommand({ passphrase: 'right' }))
    const calls = alternating(one, other, 4, (process) => reveal(process, keys.secretKey, 'right'))
    assert.is(await succeeded(calls, 'Unknown secret'), 1)
  }))

test.run()
