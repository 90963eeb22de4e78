import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diamondFold } from '../../src/commands/change-diamonds.ts'
import { clientFold } from '../../src/commands/clients.ts'
import type { DomainEvent, Fold } from '../../src/commands/handle.ts'
import { accountFold, loginFold } from '../../src/commands/logins.ts'
import { secretFold } from '../../src/commands/secrets.ts'
import { sessionFold } from '../../src/commands/sessions.ts'
import type { DiamondEvent } from '../../src/domain/diamond/diamond.ts'
import { diamonds, type DiamondView } from '../../src/projections/diamonds.ts'
import type { StoredEvent } from '../../src/stores/event-store.ts'
import { decode, NewerSchema } from '../../src/stores/schemas/decode.ts'
import { schemas } from '../../src/stores/schemas/registry.ts'
import { recordings } from './recordings.ts'

const test = suite('an event that was recorded')

const recorded = recordings()
const versions = Object.entries(schemas).flatMap(([type, { version }]) =>
  Array.from({ length: version }, (_, index) => ({ type, version: index + 1, file: `${type}.${index + 1}.json` })),
)

for (const { type, version, file } of versions) {
  test(`as ${type}, version ${version}, is there and can be read`, () => {
    const event = recorded.get(file)
    if (event === undefined) return assert.unreachable(`record one with test/events/record.ts: ${file} is missing`)
    assert.equal([event.type, event.metadata['schema']], [type, String(version)])
    const { data } = decode(event)
    if (version === schemas[type]?.version) assert.equal(data, event.data)
  })
}

test('is of a type and a version that this release knows', () => {
  for (const [file, { type, metadata }] of recorded) {
    assert.ok(Number(metadata['schema']) <= (schemas[type]?.version ?? 0), `${file} is unknown`)
  }
})

test('of a newer release is not decided on', () => {
  for (const event of recorded.values()) {
    const newer = { ...event, metadata: { ...event.metadata, schema: '999' } }
    assert.throws(
      () => decode(newer),
      (error: unknown) => error instanceof NewerSchema,
    )
  }
})

/** The states that the recorded events of a kind of stream make, one after another from the beginning. */
function statesOf<State extends { readonly status: string }, Event extends DomainEvent>(
  category: string,
  { initial, evolve }: Fold<State, Event>,
): string[] {
  const events = [...recorded.values()].filter(({ stream }) => stream.startsWith(`${category}-`))
  let state = initial
  return events.map((event) => {
    state = evolve(state, decode<Event>(event))
    return `${event.type} ${state.status}`
  })
}

test('of a diamond folds to what it was', () => {
  assert.equal(statesOf('diamond', diamondFold), [
    'DiamondCreated live',
    'DiamondPatched live',
    'CertificationAttached live',
    'ReportRead live',
    'CertificationRemoved live',
    'DiamondDeleted deleted',
  ])
})

test('of an account, a log-in and a client folds to what they were', () => {
  assert.equal(statesOf('login', loginFold), ['LoginReserved reserved'])
  assert.equal(statesOf('account', accountFold), [
    'AccountRegistered enabled',
    'ApiTokenIssued enabled',
    'ApiTokenRevoked enabled',
    'PlanChanged enabled',
    'PasswordChanged enabled',
    'AccountDisabled disabled',
    'AccountEnabled enabled',
  ])
  assert.equal(statesOf('client', clientFold), [
    'ClientRegistered enabled',
    'ClientSecretRotated enabled',
    'ClientDisabled disabled',
    'ClientEnabled enabled',
  ])
})

test('of a session and a secret folds whatever came before', () => {
  const session = statesOf('session', sessionFold())
  assert.equal(session.map((state) => state.split(' ')[0]).toSorted(), [
    'AccessTokenRevoked',
    'RefreshReused',
    'SessionOpened',
    'SessionRevoked',
    'TokenRefreshed',
  ])
  assert.ok(session.includes('SessionOpened open') && session.includes('SessionRevoked revoked'))
  const secrets = statesOf('secret', secretFold)
  assert.is(secrets.length, 7)
  assert.ok(secrets.includes('SecretShared new'), secrets.join())
})

test('shows in the diamonds as it did', () => {
  const ofDiamond = [...recorded.values()].filter(({ stream }) => /^(diamond|scores)-/.test(stream))
  const live = ofDiamond.filter(({ type }) => type !== 'DiamondDeleted')
  const view = renumbered(live).reduce<DiamondView | undefined>(
    (folded, event) => diamonds.apply(folded, event),
    undefined,
  )
  assert.is(view?.diamond.fields.cutShape, 'My own cut')
  assert.is(view?.diamond.fields.price, null)
  assert.is(view?.diamond.certifications.length, 0)
  assert.is(view?.scores?.integral?.rg, 1.02)
  const born = ofDiamond.find(({ type }) => type === 'DiamondCreated')
  assert.is(born && decode<DiamondEvent>(born).type, 'DiamondCreated')
})

/** One example a type is not a whole stream: numbered anew, they are one. */
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
