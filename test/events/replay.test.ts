import { diamondFold, type DiamondEvent } from '../../src/domain/diamond/diamond.ts'
import { clientFold } from '../../src/domain/client/client.ts'
import { secretFold } from '../../src/domain/secret/secret.ts'
import { loginFold } from '../../src/domain/account/login.ts'
import { accountFold } from '../../src/domain/account/account.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Fold, DomainEvent } from '../../src/domain/fold.ts'
import { sessionFoldFor } from '../../src/commands/sessions/sessions.ts'
import { applyEvent, type DiamondView } from '../../src/projections/diamonds/diamond-view.ts'
import type { StoredEvent } from '../../src/stores/ports/event-store.ts'
import { decode, UnsupportedEventVersion } from '../../src/events/decode.ts'
import { payloadVersionOf } from '../../src/domain/event.ts'
import { EVENTS, isKnownEventType } from '../../src/events/registry.ts'
import { recordings } from './recordings.ts'

const test = suite('a recorded event')

const recorded = recordings()
const newestOf = (type: string) => (EVENTS[type] === undefined ? 0 : payloadVersionOf(EVENTS[type]))
const versions = Object.entries(EVENTS).flatMap(([type, event]) =>
  Array.from({ length: payloadVersionOf(event) }, (_, index) => ({
    type,
    version: index + 1,
    file: `${type}.${index + 1}.json`,
  })),
)

for (const { type, version, file } of versions) {
  test(`of type ${type}, version ${version}, exists and can be decoded`, () => {
    const event = recorded.get(file)
    if (event === undefined) return assert.unreachable(`record one with test/events/record.ts: ${file} is missing`)
    assert.equal([event.type, event.metadata['schema']], [type, String(version)])
    const { data } = decode(event)
    if (version === newestOf(type)) assert.equal(data, event.data)
  })
}

test('has a type and a version that this release knows', () => {
  for (const [file, { type, metadata }] of recorded) {
    assert.ok(Number(metadata['schema']) <= newestOf(type), `${file} is unknown`)
  }
})

test('of a newer version is rejected', () => {
  for (const event of recorded.values()) {
    const newer = { ...event, metadata: { ...event.metadata, schema: '999' } }
    assert.throws(
      () => decode(newer),
      (error: unknown) => error instanceof UnsupportedEventVersion,
    )
  }
})

test('whose type is named like a property of every object is an unknown type', () => {
  const [event] = recorded.values()
  assert.ok(event !== undefined)
  for (const type of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    assert.not.ok(isKnownEventType(type), type)
    assert.throws(
      () => decode({ ...event, type }),
      (error: unknown) => error instanceof UnsupportedEventVersion,
    )
  }
})

/** The version 1 example of each type, in the given order. The examples come from several streams and logs. */
const examples = (...types: readonly string[]): StoredEvent[] =>
  types.map((type) => {
    const event = recorded.get(`${type}.1.json`)
    if (event === undefined) throw new Error(`${type} is not recorded`)
    return event
  })

/** The status after each event, starting from the initial state. */
function statesOf<State extends { readonly status: string }, Event extends DomainEvent>(
  events: readonly StoredEvent[],
  { initialState, evolve }: Fold<State, Event>,
): string[] {
  let state = initialState
  return events.map((event) => {
    state = evolve(state, decode<Event>(event))
    return `${event.type} ${state.status}`
  })
}

/** Every example from a category of streams, in log order. */
const ofCategory = (category: string) =>
  [...recorded.values()].filter(({ stream }) => stream.startsWith(`${category}-`))

test('of a diamond folds to the same states as before', () => {
  const life = ['DiamondCreated', 'DiamondPatched', 'CertificationAttached', 'ReportRead', 'CertificationRemoved']
  assert.equal(statesOf(examples(...life, 'DiamondDeleted'), diamondFold), [
    'DiamondCreated live',
    'DiamondPatched live',
    'CertificationAttached live',
    'ReportRead live',
    'CertificationRemoved live',
    'DiamondDeleted deleted',
  ])
})

test('of an account, a log-in or a client folds to the same states as before', () => {
  assert.equal(statesOf(examples('LoginReserved', 'LoginReleased'), loginFold), [
    'LoginReserved reserved',
    'LoginReleased free',
  ])
  const life = ['ApiTokenIssued', 'ApiTokenRevoked', 'PlanChanged', 'PasswordChanged']
  const account = examples('AccountRegistered', ...life, 'AccountDisabled', 'AccountEnabled', 'AccountForgotten')
  assert.equal(statesOf(account, accountFold), [
    'AccountRegistered enabled',
    'ApiTokenIssued enabled',
    'ApiTokenRevoked enabled',
    'PlanChanged enabled',
    'PasswordChanged enabled',
    'AccountDisabled disabled',
    'AccountEnabled enabled',
    'AccountForgotten forgotten',
  ])
  assert.equal(statesOf(ofCategory('client'), clientFold), [
    'ClientRegistered enabled',
    'ClientSecretRotated enabled',
    'ClientDisabled disabled',
    'ClientEnabled enabled',
  ])
})

test('of an account contains an email address only in version 1', () => {
  const [first, second] = [recorded.get('AccountRegistered.1.json'), recorded.get('AccountRegistered.2.json')]
  if (first === undefined || second === undefined) throw new Error('they are not recorded')
  assert.is((decode(first).data as { email?: string }).email, 'ann@example.com')
  assert.not.match(JSON.stringify([second.data, recorded.get('LoginReserved.2.json')?.data]), /@/)
})

test('of a session or a secret folds in any order', () => {
  const session = statesOf(ofCategory('session'), sessionFoldFor())
  assert.equal(session.map((state) => state.split(' ')[0]).toSorted(), [
    'AccessTokenRevoked',
    'RefreshReused',
    'SessionOpened',
    'SessionRevoked',
    'TokenRefreshed',
  ])
  assert.ok(session.includes('SessionOpened open') && session.includes('SessionRevoked revoked'))
  const life = ['SecretShared', 'MailSent', 'PassphraseTried', 'SecretRevealed']
  assert.equal(statesOf(examples(...life), secretFold), [
    'SecretShared new',
    'MailSent new',
    'PassphraseTried new',
    'SecretRevealed received',
  ])
  for (const [end, status] of [
    ['SecretBurned', 'burned'],
    ['SecretExpired', 'expired'],
  ] as const) {
    const states = statesOf(examples('SecretShared', 'MailRefused', end), secretFold)
    assert.equal(states, ['SecretShared new', 'MailRefused new', `${end} ${status}`])
  }
})

test('has the same effect on the diamonds read model as before', () => {
  const life = ['DiamondCreated', 'DiamondPatched', 'CertificationAttached', 'ReportRead', 'DiamondScored']
  const live = examples(...life, 'CertificationRemoved')
  const view = renumbered(live).reduce<DiamondView | undefined>((folded, event) => applyEvent(folded, event), undefined)
  assert.is(view?.diamond.fields.cutShape, 'My own cut')
  assert.is(view?.diamond.fields.price, null)
  assert.is(view?.diamond.certifications.length, 0)
  assert.equal(JSON.parse(view?.scores ?? ''), recorded.get('DiamondScored.1.json')?.data['scores'])
  const [born] = live
  assert.is(born && decode<DiamondEvent>(born).type, 'DiamondCreated')
})

/** Renumbers examples from several streams as if each category were one stream. */
function renumbered(events: readonly StoredEvent[]): StoredEvent[] {
  const next = new Map<string, bigint>()
  return events.map((event) => {
    const category = event.stream.slice(0, event.stream.indexOf('-'))
    const revision = next.get(category) ?? 0n
    next.set(category, revision + 1n)
    return { ...event, revision }
  })
}

test.run()
