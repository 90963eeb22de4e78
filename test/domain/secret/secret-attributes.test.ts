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
/** When it expires and when its metadata expires, in milliseconds. */
const END = SHARED + 60_000
const METADATA_END = SHARED + 120_000

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
  attempts: 0,
  opened: false,
  lockedUntil: 0,
  mails: [],
  changedAt: SHARED,
  status: 'new',
  ...own,
})

const KEYS = { metadataKey: 'm', secretKey: 's' }
const attributesOf = (own: Partial<KnownSecret>, now: number, keys: Parameters<typeof toSecretAttributes>[2] = KEYS) =>
  toSecretAttributes(secret(own), 'ann@example.com', keys, now)

const test = suite('the attributes of a secret')

test('include its key, its remaining lifetime and whether it has a passphrase while it is new', () => {
  assert.equal(attributesOf({ recipient: ['a***@example.com'] }, SHARED + 1_500), {
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

test('include the time of reading, but neither key nor lifetime, after it was read', () => {
  assert.equal(attributesOf({ status: 'received', changedAt: 25_999 }, 30_000), {
    ...ENDED,
    metadata_ttl: 100,
    state: 'received',
    updated: 25,
    received: 25,
  })
})

test('include an empty key and no lifetime after it was burned', () => {
  assert.equal(attributesOf({ status: 'burned', changedAt: 25_000 }, 30_000), {
    ...ENDED,
    secret_key: '',
    metadata_ttl: 100,
    secret_ttl: null,
    state: 'burned',
    updated: 25,
  })
})

test('include the time of expiry and no key after it expired, even before an event records it', () => {
  const expired = { ...ENDED, metadata_ttl: 60, secret_ttl: null, state: 'expired', updated: END / 1000 }
  assert.equal(attributesOf({}, END), expired)
  assert.equal(attributesOf({ status: 'expired', changedAt: END + 5_000 }, END), expired)
})

test('include null for unknown keys, in every state', () => {
  const keys = { metadataKey: null, secretKey: null }
  for (const status of ['new', 'received', 'burned', 'expired'] as const)
    assert.is(attributesOf({ status }, 30_000, keys)['secret_key'], null, status)
  assert.is(attributesOf({}, 30_000, keys)['metadata_key'], null)
})

test('include the passphrase requirement while it is new, and the number of failed attempts', () => {
  const waiting = attributesOf({ passphrase: true, attempts: 3 }, 30_000)
  assert.equal([waiting['passphrase_required'], waiting['failed_attempts']], [true, 3])
  const read = attributesOf({ passphrase: true, attempts: 4, opened: true, status: 'received' }, 30_000)
  assert.equal([read['passphrase_required'], read['failed_attempts']], [undefined, 3])
})

test('never include a negative lifetime', () => {
  assert.is(attributesOf({ status: 'received' }, METADATA_END)['metadata_ttl'], 0)
  assert.is(attributesOf({ status: 'received' }, METADATA_END + 5_000)['metadata_ttl'], 0)
})

test('include the state new until the last millisecond of its lifetime', () => {
  assert.is(stateAt(secret(), END - 1), 'new')
  assert.is(stateAt(secret(), END), 'expired')
  assert.is(stateAt(secret({ status: 'burned' }), END), 'burned')
})

const mails = suite("the status of a secret's mails")

const link = (name: string, outcome: RecordedMail['outcome'] = 'sent'): RecordedMail => ({
  kind: 'link',
  name,
  outcome,
})
const NOTICE: RecordedMail = { kind: 'notice', name: 'n', outcome: 'sent' }
const TWO = ['a', 'b']

const outcomes: readonly (readonly [
  name: string,
  recipient: readonly string[],
  mails: readonly RecordedMail[],
  SecretState,
  ReturnType<typeof mailStatus>,
])[] = [
  ['is undefined without a recipient', [], [], 'new', undefined],
  ['is undefined for a notice to the owner alone', [], [NOTICE], 'received', undefined],
  ['is waiting until an outcome is recorded', TWO, [], 'new', 'waiting'],
  ['is waiting while one outcome is missing, regardless of a notice', TWO, [link('1'), NOTICE], 'new', 'waiting'],
  ['is undefined if the secret was burned before all mails were sent', TWO, [link('1')], 'burned', undefined],
  ['is sent if all were sent', TWO, [link('1'), link('2')], 'new', 'sent'],
  ['is sent if all were sent, even after the secret was read', TWO, [link('1'), link('2')], 'received', 'sent'],
  ['is refused if one was refused and another was sent', TWO, [link('1'), link('2', 'refused')], 'new', 'refused'],
  ['is refused if one was refused and another is missing', TWO, [link('1', 'refused')], 'burned', 'refused'],
  [
    'is undefined if one was not sent because the secret ended',
    TWO,
    [link('1'), link('2', 'not sent')],
    'received',
    undefined,
  ],
  ['ignores a refused notice', ['a'], [link('1'), { ...NOTICE, outcome: 'refused' }], 'received', 'sent'],
]
for (const [name, recipient, recorded, state, status] of outcomes)
  mails(name, () => assert.is(mailStatus(secret({ recipient, mails: recorded }), state), status))

mails('is an attribute only if it is defined', () => {
  assert.is(attributesOf({ recipient: ['a'], mails: [link('1')] }, 30_000)['mail_status'], 'sent')
  assert.not.ok('mail_status' in attributesOf({}, 30_000))
})

test.run()
mails.run()
