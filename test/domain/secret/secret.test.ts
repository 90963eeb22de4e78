import {
  burn,
  expire,
  recordMailOutcome,
  requireUnexpiredMetadata,
  reveal,
  secretFold,
  tryPassphrase,
  type SecretEvent,
} from '../../../src/domain/secret/secret.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'

const MINUTE = 60_000
const shared: SecretEvent = {
  type: 'SecretShared',
  data: { owner: 7, token: 't', kind: 'shared', at: 0, ttl: 3600, passphrase: true, recipient: [], notify: false },
}
const given = (...events: SecretEvent[]) => events.reduce(secretFold.evolve, secretFold.initialState)
const tries = (...times: number[]): SecretEvent[] =>
  times.map((at) => ({ type: 'PassphraseTried', data: { at, for: 'reveal' } }))
const refuses = (kind: string) => (error: unknown) => error instanceof RequestError && error.kind === kind
const test = suite('a secret')

test('that is new is revealed to its reader', () => {
  assert.equal(reveal(given(shared), 10), [{ type: 'SecretRevealed', data: { at: 10 } }])
})

test('that was revealed, burned or expired is unknown to later readers and burners', () => {
  const endings = [reveal(given(shared), 10), burn(given(shared), 10, 'key'), expire(given(shared), 3_600_000)]
  for (const ending of endings) {
    const ended = given(shared, ...ending)
    assert.throws(() => reveal(ended, 11), refuses('missing'))
    assert.throws(() => burn(ended, 11, 'owner'), refuses('missing'))
    assert.throws(() => tryPassphrase(ended, 11, 'reveal'), refuses('missing'))
    assert.equal(expire(ended, 4_000_000), [])
  }
})

test('ends once: a later event does not change its outcome', () => {
  const burned = given(shared, { type: 'SecretBurned', data: { at: 5, by: 'key' } })
  assert.equal(secretFold.evolve(burned, { type: 'SecretRevealed', data: { at: 6 } }), burned)
})

test('is unknown once it has expired, even before an event records it', () => {
  assert.equal(reveal(given(shared), 3_599_999).length, 1)
  assert.throws(() => reveal(given(shared), 3_600_000), refuses('missing'))
})

test('has metadata for twice its ttl', () => {
  assert.ok(requireUnexpiredMetadata(given(shared), 7_199_999))
  assert.throws(() => requireUnexpiredMetadata(given(shared), 7_200_000), refuses('missing'))
})

test('is locked for 30 minutes after 5 wrong passphrases within 10 minutes', () => {
  const four = given(shared, ...tries(0, 1, 2, 3))
  assert.equal(tryPassphrase(four, 10 * MINUTE - 1, 'reveal').length, 1)
  const locked = given(shared, ...tries(0, 1, 2, 3, 4))
  assert.throws(() => tryPassphrase(locked, 5, 'reveal'), refuses('too-many'))
  assert.throws(() => tryPassphrase(locked, 4 + 30 * MINUTE - 1, 'burn'), refuses('too-many'))
  assert.equal(tryPassphrase(locked, 4 + 30 * MINUTE, 'reveal').length, 1)
})

test('does not count attempts that are 10 minutes old', () => {
  const spread = given(shared, ...tries(0, 1, 2, 3, 10 * MINUTE + 3))
  assert.equal(tryPassphrase(spread, 10 * MINUTE + 4, 'reveal').length, 1)
})

test('that is locked reports the remaining seconds', () => {
  try {
    tryPassphrase(given(shared, ...tries(0, 0, 0, 0, 0)), 1, 'reveal')
    assert.unreachable()
  } catch (error) {
    assert.is(error instanceof RequestError && error.retryAfter, 1800)
  }
})

test('records one outcome for each of its mails', () => {
  const outcome = { mail: 'link', messageId: '<a@b>' } as const
  const sent = recordMailOutcome(given(shared), 10, outcome)
  assert.equal(sent, [{ type: 'MailSent', data: { ...outcome, at: 10 } }])
  assert.equal(recordMailOutcome(given(shared, ...sent), 11, { ...outcome, refused: '550' }), [])
  assert.is(recordMailOutcome(given(shared, ...sent), 11, { mail: 'notice', messageId: '<c@b>' }).length, 1)
})

test.run()
