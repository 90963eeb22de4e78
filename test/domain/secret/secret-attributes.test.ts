import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  toSecretAttributes,
  mailStatus,
  stateAt,
  type SecretState,
} from '../../../src/domain/secret/secret-attributes.ts'
import type { KnownSecret, RecordedMail } from '../../../src/domain/secret/secret.ts'

const SHARED = 10_000
/** Its end, and when it is forgotten, in milliseconds. */
const END = SHARED + 60_000
const FORGOTTEN = SHARED + 120_000

const secret = (own: Partial<KnownSecret> = {}): KnownSecret => ({
  owner: 7,
  token: 't',
  kind: 'shared',
  at: SHARED,
  ttl: 60,
  passphrase: false,
  recipient: [],
  notify: false,
  tries: [],
  failedTries: 0,
  lockedUntil: 0,
  mails: [],
  changedAt: SHARED,
  status: 'new',
  ...own,
})

const KEYS = { metadataKey: 'm', secretKey: 's' }
const shown = (own: Partial<KnownSecret>, now: number, keys: Parameters<typeof toSecretAttributes>[2] = KEYS) =>
  toSecretAttributes(secret(own), 'ann@example.com', keys, now)

const test = suite('what is shown of a secret')

test('that waits is its key, how long it still lives, and whether it has a passphrase', () => {
  assert.equal(shown({ recipient: ['a***@example.com'] }, SHARED + 1_500), {
    custid: 'ann@example.com',
    metadata_key: 'm',
    secret_key: 's',
    ttl: 60,
    metadata_ttl: 119,
    secret_ttl: 59,
    state: 'new',
    updated: 10,
    created: 10,
    recipient: ['a***@example.com'],
    mail_status: 'waiting',
    share_domain: '',
    passphrase_required: false,
  })
})

const ENDED = { custid: 'ann@example.com', metadata_key: 'm', ttl: 60, created: 10, recipient: [], share_domain: '' }

test('that was read is when, and neither its key nor a lifetime', () => {
  assert.equal(shown({ status: 'received', changedAt: 25_999 }, 30_000), {
    ...ENDED,
    metadata_ttl: 100,
    state: 'received',
    updated: 25,
    received: 25,
  })
})

test('that was burned is an empty key, and no lifetime', () => {
  assert.equal(shown({ status: 'burned', changedAt: 25_000 }, 30_000), {
    ...ENDED,
    secret_key: '',
    metadata_ttl: 100,
    secret_ttl: null,
    state: 'burned',
    updated: 25,
  })
})

test('that has expired is no key, and the moment of its end, whoever has noticed', () => {
  const expired = { ...ENDED, metadata_ttl: 60, secret_ttl: null, state: 'expired', updated: END / 1000 }
  assert.equal(shown({}, END), expired)
  assert.equal(shown({ status: 'expired', changedAt: END + 5_000 }, END), expired)
})

test('of which the key can not be told is null, in every state', () => {
  const keys = { metadataKey: null, secretKey: null }
  for (const status of ['new', 'received', 'burned', 'expired'] as const)
    assert.is(shown({ status }, 30_000, keys)['secret_key'], null, status)
  assert.is(shown({}, 30_000, keys)['metadata_key'], null)
})

test('that has a passphrase is that, as long as it waits, and how many failed', () => {
  const waiting = shown({ passphrase: true, failedTries: 3 }, 30_000)
  assert.equal([waiting['passphrase_required'], waiting['failed_attempts']], [true, 3])
  const read = shown({ passphrase: true, failedTries: 3, status: 'received' }, 30_000)
  assert.equal([read['passphrase_required'], read['failed_attempts']], [undefined, 3])
})

test('never is a lifetime below none', () => {
  assert.is(shown({ status: 'received' }, FORGOTTEN)['metadata_ttl'], 0)
  assert.is(shown({ status: 'received' }, FORGOTTEN + 5_000)['metadata_ttl'], 0)
})

test('is new to the last millisecond of its life', () => {
  assert.is(stateAt(secret(), END - 1), 'new')
  assert.is(stateAt(secret(), END), 'expired')
  assert.is(stateAt(secret({ status: 'burned' }), END), 'burned')
})

const mails = suite("what became of a secret's mails")

const link = (name: string, outcome: RecordedMail['outcome'] = 'sent'): RecordedMail => ({
  kind: 'link',
  name,
  outcome,
})
const NOTICE: RecordedMail = { kind: 'notice', name: 'n', outcome: 'sent' }
const TWO = ['a', 'b']

const outcomes: readonly (readonly [
  what: string,
  recipient: readonly string[],
  mails: readonly RecordedMail[],
  SecretState,
  ReturnType<typeof mailStatus>,
])[] = [
  ['is nothing without a recipient', [], [], 'new', undefined],
  ['is nothing of a notice to the owner', [], [NOTICE], 'received', undefined],
  ['is that they wait until one is on record', TWO, [], 'new', 'waiting'],
  ['is that they wait while one is missing, whatever else was sent', TWO, [link('1'), NOTICE], 'new', 'waiting'],
  ['is nothing where the secret ended before', TWO, [link('1')], 'burned', undefined],
  ['is that all were sent', TWO, [link('1'), link('2')], 'new', 'sent'],
  ['is that all were sent, also behind its end', TWO, [link('1'), link('2')], 'received', 'sent'],
  ["is that one was refused, whatever became of the other's", TWO, [link('1'), link('2', 'refused')], 'new', 'refused'],
  ['is that one was refused while another is missing', TWO, [link('1', 'refused')], 'burned', 'refused'],
  [
    'is nothing where the secret ended before one was sent',
    TWO,
    [link('1'), link('2', 'not sent')],
    'received',
    undefined,
  ],
  ['is no refusal of a notice', ['a'], [link('1'), { ...NOTICE, outcome: 'refused' }], 'received', 'sent'],
]
for (const [what, recipient, onRecord, state, status] of outcomes)
  mails(what, () => assert.is(mailStatus(secret({ recipient, mails: onRecord }), state), status))

mails('stands in what is shown only where there is one', () => {
  assert.is(shown({ recipient: ['a'], mails: [link('1')] }, 30_000)['mail_status'], 'sent')
  assert.not.ok('mail_status' in shown({}, 30_000))
})

test.run()
mails.run()
