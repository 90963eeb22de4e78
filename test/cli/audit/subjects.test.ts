import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { auditCertification } from '../../../src/cli/audit/diamond.ts'
import { auditClient, auditSession, auditUser } from '../../../src/cli/audit/user-client-session.ts'
import { findEntriesByCorrelation } from '../../../src/cli/audit/correlation.ts'
import { entriesTable, type AuditHistory, type AuditSubject } from '../../../src/cli/audit/subject.ts'
import { disableClient, rotateClientSecret } from '../../../src/commands/clients/clients.ts'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import type { HistoryEntry } from '../../../src/projections/history/history-entry.ts'
import { fixture, reportNamed } from '../../fixtures/reports/reports.ts'
import { until } from '../../until.ts'
import { attached } from '../../api/harness/form.ts'
import { expect } from '../../api/harness/request.ts'
import { newSender } from '../../api/harness/secrets.ts'
import { startService, type Service } from '../../api/harness/service.ts'
import { created, stone } from '../../api/harness/stones.ts'

const test = suite<{ service: Service }>('an audit')
test.before(async (context) => {
  context.service = await startService({ scored: true })
})
test.after(({ service }) => service.stop())

const historyOf = (subject: AuditSubject, { installation }: Service, id: string): Promise<AuditHistory> =>
  subject.loadHistory(installation, id)
const entriesOf = async (subject: AuditSubject, service: Service, id: string) =>
  (await historyOf(subject, service, id)).entries()
const typesOf = (entries: readonly HistoryEntry[]) => entries.map(({ type }) => type)
const operator = { actor: 'operator', via: 'cli', correlation: 'a-run', osUser: 'alice' } as const

/** Entries without their streams: the name of a log-in's stream contains a digest of its address. */
const withoutStreams = (entries: readonly HistoryEntry[]) =>
  JSON.stringify(entries.map((entry) => ({ ...entry, stream: '' })))

/** Hashes and tokens. */
const HIDDEN = /\$2[aby]\$|"(?:[0-9a-f]{64})"|[\w-]{43}/

test('of a certification shows who attached and removed it, the values read, and contradictions to its stone', async ({
  service,
}) => {
  const { ann, installation } = service
  const { id } = await created(ann, { carat: 0.73 })
  const other = await attached(ann, id)
  const { file } = reportNamed('gia')
  const { id: certification } = await attached(ann, id, fixture(file), '2136273512')
  await until('the report to be read', async () =>
    (await installation.store.readStream(`diamond-${id}`)).some(({ type }) => type === 'ReportRead'),
  )
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 5 }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { carat: 0.9 }))
  expect(204, await ann.remove(`/v4/certification/${other.id}`))
  expect(204, await ann.remove(`/v4/diamond/${id}`))

  const history = await historyOf(auditCertification, service, String(certification))
  const entries = await history.entries()
  assert.equal(typesOf(entries), ['certified', 'read', 'changed', 'uncertified'])
  const [certified, read, changed] = entries
  assert.match(certified?.by?.account ?? '', /@/)
  assert.is(read?.by, null)
  const change = (entry: HistoryEntry | undefined, field: string) => entry?.changes.find((one) => one.field === field)
  assert.equal(change(certified, 'laboratory'), { field: 'laboratory', from: null, to: 'GIA' })
  assert.equal(change(read, 'read.shape'), { field: 'read.shape', from: null, to: 'Round' })
  assert.equal(change(read, 'read.carat'), { field: 'read.carat', from: null, to: 0.73 })
  assert.match(String(change(changed, 'warnings')?.to), /0\.73 carats, not of 0\.9/)
  assert.equal(changed?.changes.length, 1)
  assert.is(history.stateAt?.(Date.parse(certified?.at ?? '') - 1), null)
  assert.is(history.stateAt?.(Date.parse(entries.at(-1)?.at ?? '') + 1000), null)
})

test('of an account shows its changes, tokens and log-ins, by address or number, and no hash', async ({ service }) => {
  const { apiToken, email, account } = await newUser(service)
  const entries = await entriesOf(auditUser, service, email)
  const types = typesOf(entries)
  for (const type of ['log-in name reserved', 'registered', 'API token issued']) assert.ok(types.includes(type), type)
  assert.equal(await entriesOf(auditUser, service, String(account)), entries)
  assert.equal(await entriesOf(auditUser, service, `account-${account}`), entries)
  const [registered] = entries.filter(({ type }) => type === 'registered')
  assert.equal(
    registered?.changes.map(({ field, to }) => [field, to]),
    [
      ['email', email],
      ['plan', 'basic'],
      ['status', 'enabled'],
    ],
  )
  assert.not.match(withoutStreams(entries), HIDDEN)
  assert.not.ok(JSON.stringify(entries).includes(apiToken))
  const ann = await entriesOf(auditUser, service, String(service.ann.account))
  const logins = ann.filter(({ type }) => type === 'logged in')
  assert.ok(logins.length > 0)
  assert.match(logins[0]?.detail ?? '', /@.* through the client /)
})

async function newUser({ installation }: Service) {
  const sender = await newSender(installation)
  return { apiToken: sender.token, email: sender.email, account: sender.account }
}

async function sessionsOf({ installation: { store } }: Service, account: number) {
  const found = []
  for await (const event of store.readAll('start', { prefixes: ['session-'] })) {
    if (event.data['account'] === account) found.push(event)
  }
  return found
}

test('of a request shows all events that it caused, in all streams, in the order of the log', async ({ service }) => {
  const { ann, installation } = service
  const response = expect(201, await ann.post('/v4/diamond', stone({ sku: 'CAUSED' })))
  const { id } = response.json() as { id: number }
  await until('scores', async () => (await installation.store.readStream(`scores-${id}`)).length > 0)
  const request = String(response.headers['x-request-id'])
  const entries = await findEntriesByCorrelation(installation, request)
  assert.equal(
    entries.map(({ stream, type }) => `${stream} ${type}`),
    [`diamond-${id} created`, `scores-${id} scored`],
  )
  assert.ok(entries.every((entry) => entry.request === request))
  assert.equal(await findEntriesByCorrelation(installation, randomUUID()), [])

  const bulk = expect(201, await ann.post('/v4/diamond/bulk', { entries: [stone(), stone()] }))
  const caused = await findEntriesByCorrelation(installation, String(bulk.headers['x-request-id']))
  assert.equal(typesOf(caused).filter((type) => type === 'created').length, 2)
  assert.match(entriesTable(caused), /^when +where +what +who/)
})

test('shows events that cannot be decoded in their place, and the events after them', async ({ service }) => {
  const { installation } = service
  const { account, email } = await newUser(service)
  const stream = `account-${account}`
  const correlation = randomUUID()
  const by = { ...operator, correlation }
  const write = async (type: string, data: object, schema: string) => {
    const [last] = await installation.store.readStream(stream, { last: 1 })
    const event = { id: randomUUID(), type, data: { ...data }, metadata: toEventMetadata(by, Date.now(), schema) }
    await installation.store.append(stream, last?.revision ?? 'none', [event])
  }
  await write('PlanChanged', { plan: 'platinum' }, '1')
  await write('PlanChanged', { plan: 'secretly' }, '99')
  await write('Foretold', { plan: 'hidden' }, '1')
  await write('PlanChanged', { plan: 'pro' }, '1')
  const entries = (await entriesOf(auditUser, service, email)).slice(-4)
  assert.equal(
    entries.map(({ type, undecoded }) => [type, undecoded !== undefined]),
    [
      ['PlanChanged', true],
      ['PlanChanged', true],
      ['Foretold', true],
      ['plan changed', false],
    ],
  )
  assert.equal(entries[3]?.changes, [{ field: 'plan', from: 'basic', to: 'pro' }])
  assert.equal(typesOf(await findEntriesByCorrelation(installation, correlation)), typesOf(entries))
  assert.not.match(JSON.stringify(entries), /platinum|secretly|hidden/)
})

const UNKNOWN_SUBJECTS: readonly (readonly [subject: AuditSubject, id: string, message: RegExp])[] = [
  [auditCertification, '999999', /No certification 999999 has ever existed/],
  [auditCertification, 'x', /id: must be a certification id such as 12/],
  [auditUser, 'nobody@example.com', /There is no account nobody@example.com/],
  [auditUser, '999999', /No account 999999 has ever existed/],
  [auditClient, 'nope', /No client nope has ever existed/],
  [auditSession, 'f'.repeat(32), /No session with this id has ever existed/],
]

for (const [subject, id, message] of UNKNOWN_SUBJECTS) {
  test(`of the unknown ${subject.name} ${id} fails with a message`, async ({ service }) => {
    const error = await historyOf(subject, service, id).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.match(String(error), message)
  })
}

// This test must be the last one: it disables the client, so that it gets no more tokens.
test('of a client and of a session shows each action with its user', async ({ service }) => {
  const { installation, ann } = service
  const [opened] = await sessionsOf(service, ann.account)
  assert.ok(opened)
  const client = String(opened.data['client'])
  await rotateClientSecret(installation.context, client, operator)
  await disableClient(installation.context, client, operator)
  const entries = await entriesOf(auditClient, service, client)
  assert.equal(typesOf(entries), ['registered', 'secret rotated', 'disabled'])
  assert.equal(entries[2]?.changes, [{ field: 'status', from: 'enabled', to: 'disabled' }])
  assert.equal([entries[2]?.by?.via, entries[2]?.osUser], ['cli', 'alice'])
  const session = await entriesOf(auditSession, service, opened.stream)
  assert.is(session[0]?.type, 'logged in')
  assert.equal(await entriesOf(auditSession, service, opened.stream.slice('session-'.length)), session)
  assert.not.match(withoutStreams([...entries, ...session]), HIDDEN)
})

test.run()
