import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { burnSecret, revealSecret } from '../../../src/commands/secrets/secrets.ts'
import { shareSecret } from '../../../src/commands/secrets/share-secret.ts'
import { secretStream } from '../../../src/credentials/secret-keys.ts'
import { rounds } from '../../rounds.ts'
import { origin, succeeded, wish, withTwo, type SecretsProcess } from './secrets-on-disk.ts'

const test = suite('a race for a secret')
const ROUNDS = rounds(30, 1_000)

const reveal = (process: SecretsProcess, secretKey: string, passphrase = '') =>
  revealSecret(process, { secretKey, passphrase, origin })
const burn = (process: SecretsProcess, metadataKey: string) =>
  burnSecret(process, { metadataKey, passphrase: '', account: undefined, origin })

/** One and the other in turn, so many. */
const inTurn = <Result>(
  one: SecretsProcess,
  other: SecretsProcess,
  count: number,
  call: (p: SecretsProcess) => Result,
) => Array.from({ length: count }, (_, n) => call(n % 2 === 0 ? one : other))

test('has one reader, though all of them come with one request id', () =>
  withTwo(async (one, other) => {
    for (let round = 0; round < ROUNDS; round++) {
      const { keys } = await shareSecret(one, wish())
      const calls = inTurn(one, other, 8, (process) => reveal(process, keys.secretKey))
      assert.is(await succeeded(calls, 'Unknown secret'), 1)
    }
  }))

test('between a reader and a burner has one winner', () =>
  withTwo(async (one, other) => {
    for (let round = 0; round < ROUNDS; round++) {
      const { keys } = await shareSecret(one, wish())
      const [reader, burner] = round % 2 === 0 ? [one, other] : [other, one]
      const calls = [burn(burner, keys.metadataKey), reveal(reader, keys.secretKey)]
      assert.is(await succeeded(calls, 'Unknown secret'), 1)
    }
  }))

/** The process with its appends held back until they are let go. */
function held(process: SecretsProcess) {
  const [append, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const store: SecretsProcess['store'] = {
    ...process.store,
    async append(...asked) {
      append.resolve()
      await letGo.promise
      return process.store.append(...asked)
    },
  }
  return { process: { ...process, store }, appends: append.promise, letGo: letGo.resolve }
}

for (const [winner, first, second, type] of [
  ['reader', 'reveal', 'burn', 'SecretRevealed'],
  ['burner', 'burn', 'reveal', 'SecretBurned'],
] as const) {
  test(`is won by the ${winner} who writes first, though the other had decided before`, () =>
    withTwo(async (one, other) => {
      const { keys } = await shareSecret(one, wish())
      const late = held(other)
      const call = {
        reveal: (process: SecretsProcess) => reveal(process, keys.secretKey),
        burn: (process: SecretsProcess) => burn(process, keys.metadataKey),
      }
      const losing = succeeded([call[second](late.process)], 'Unknown secret')
      await late.appends
      await call[first](one)
      late.letGo()
      assert.is(await losing, 0)
      assert.is((await one.store.read(secretStream(keys.digest))).at(-1)?.type, type)
    }))
}

test('of guesses at a passphrase lets through no more than five', () =>
  withTwo(async (one, other) => {
    const { keys } = await shareSecret(one, wish({ passphrase: 'right' }))
    const calls = inTurn(one, other, 20, (process) => reveal(process, keys.secretKey, 'wrong'))
    await Promise.allSettled(calls)
    const events = await one.store.read(secretStream(keys.digest))
    assert.is(events.filter(({ type }) => type === 'PassphraseTried').length, 5)
    assert.is(events.filter(({ type }) => type === 'SecretRevealed').length, 0)
  }))

test('with the right passphrase has one reader', () =>
  withTwo(async (one, other) => {
    const { keys } = await shareSecret(one, wish({ passphrase: 'right' }))
    const calls = inTurn(one, other, 4, (process) => reveal(process, keys.secretKey, 'right'))
    assert.is(await succeeded(calls, 'Unknown secret'), 1)
  }))

test.run()
