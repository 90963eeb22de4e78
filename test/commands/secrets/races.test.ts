import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { burnSecret } from '../../../src/commands/secrets/burn-secret.ts'
import { revealSecret } from '../../../src/commands/secrets/reveal-secret.ts'
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
    let read = 0
    for (let round = 0; round < ROUNDS; round++) {
      const { keys } = await shareSecret(one, wish())
      const reader = () => reveal(round % 4 < 2 ? one : other, keys.secretKey)
      const burner = () => burn(round % 4 < 2 ? other : one, keys.metadataKey)
      const burning = burner()
      for (let turn = 0; turn < round % 4; turn++) await new Promise((done) => setImmediate(done))
      assert.is(await succeeded([burning, reader()], 'Unknown secret'), 1)
      const events = await one.store.read(secretStream(keys.digest))
      if (events.at(-1)?.type === 'SecretRevealed') read++
    }
    assert.ok(read > 0 && read < ROUNDS, `${read} of ${ROUNDS} rounds were won by the reader`)
  }))

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
