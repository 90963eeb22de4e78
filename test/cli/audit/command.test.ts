import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { openInstallation } from '../../../src/wiring/open-installation.ts'
import { readSettings } from '../../../src/wiring/settings.ts'
import { enginesFor } from '../../engines.ts'
import { CommandLine } from '../command-line.ts'

const test = suite<{ commands: CommandLine }>('audit')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
})
test.after.each(({ commands }) => commands.remove())

type Entry = { stream: string; revision: number; type: string; by: { via: string } | null; request: string }

test('shows the events of accounts, clients and commands, as text and as one line of JSON', async ({ commands }) => {
  await commands.json('user', 'add', 'ann@example.com', '--password', 'right horse')
  const { client_id: client } = await commands.json('client', 'add', 'Stock sync')
  await commands.json('user', 'plan', 'ann@example.com', 'pro')
  const [user, asText, ofClient, at, diff] = await commands.runInTurn([
    ['audit', 'user', 'ann@example.com', '--json'],
    ['audit', 'user', 'ann@example.com'],
    ['audit', 'client', String(client), '--json'],
    ['audit', 'client', String(client), '--at', '2999-01-01', '--json'],
    ['audit', 'user', '1', '--diff', '2020-01-01', '2999-01-01', '--json'],
  ])
  const entries = JSON.parse(user?.out ?? '') as Entry[]
  assert.equal(
    entries.map(({ stream, revision, type }) => [stream.replace(/-[0-9a-f]{64}/, ''), revision, type]),
    [
      ['login', 0, 'log-in name reserved'],
      ['account-1', 0, 'registered'],
      ['account-1', 1, 'plan changed'],
    ],
  )
  assert.match(asText?.out ?? '', /plan changed +operator .*plan: basic -> pro/)
  assert.equal(
    (JSON.parse(ofClient?.out ?? '') as Entry[]).map(({ type }) => type),
    ['registered'],
  )
  assert.equal(JSON.parse(at?.out ?? ''), {
    at: '2999-01-01T23:59:59+00:00',
    state: { name: 'Stock sync', status: 'enabled' },
  })
  const { changes } = JSON.parse(diff?.out ?? '') as { changes: { field: string; to: unknown }[] }
  assert.equal(
    changes.slice(0, 3).map(({ field, to }) => [field, to]),
    [
      ['email', 'ann@example.com'],
      ['plan', 'pro'],
      ['status', 'enabled'],
    ],
  )
  const [caused, causedText, nothing] = await commands.runInTurn([
    ['audit', '--correlation', entries[0]?.request ?? '', '--json'],
    ['audit', '--correlation', entries[0]?.request ?? ''],
    ['audit', '--correlation', 'nobody'],
  ])
  const all = JSON.parse(caused?.out ?? '') as Entry[]
  assert.equal(
    all.map(({ type }) => type).filter((type) => type !== 'IdsReserved'),
    ['log-in name reserved', 'registered'],
  )
  assert.match(causedText?.out ?? '', /account-1@0/)
  assert.equal([nothing?.code, nothing?.out], [1, ''])
  assert.match(nothing?.err ?? '', /No events have the correlation id nobody/)
})

test('reports how many events a state lacks because they cannot be decoded', async ({ commands }) => {
  await commands.json('user', 'add', 'ann@example.com', '--password', 'right horse')
  const settings = { DATA_DIR: commands.dataDir, ...(await enginesFor(commands.dataDir)) }
  const { store, close } = await openInstallation(readSettings(settings))
  const by = { actor: 'operator', via: 'cli', correlation: 'later' } as const
  const event = {
    id: randomUUID(),
    type: 'PlanChanged',
    data: { plan: 'pro' },
    metadata: toEventMetadata(by, Date.now(), '99'),
  }
  await store.append('account-1', 0n, [event])
  await close()
  const [at, before, diff] = await commands.runInTurn([
    ['audit', 'user', '1', '--at', '2999-01-01', '--json'],
    ['audit', 'user', '1', '--at', '2000-01-01', '--json'],
    ['audit', 'user', '1', '--diff', '2000-01-01', '2999-01-01', '--json'],
  ])
  const undecoded = ({ out }: { readonly out: string } = { out: '{}' }) =>
    (JSON.parse(out) as { undecoded?: number }).undecoded
  assert.equal([undecoded(at), undecoded(before), undecoded(diff)], [1, undefined, 1])
  assert.match(at?.err ?? '', /Ignored 1 event that this release cannot decode/)
})

test('shows the trace id of a request, by which `events` finds the events that it caused', async ({ commands }) => {
  await commands.json('user', 'add', 'ann@example.com', '--password', 'right horse')
  const settings = { DATA_DIR: commands.dataDir, ...(await enginesFor(commands.dataDir)) }
  const { store, close } = await openInstallation(readSettings(settings))
  const id = 'a1'.repeat(16)
  const trace = `00-${id}-00f067aa0ba902b7-01`
  const by = { actor: 'account-1', via: 'http', correlation: 'later', trace } as const
  const event = {
    id: randomUUID(),
    type: 'PlanChanged',
    data: { plan: 'pro' },
    metadata: toEventMetadata(by, Date.now()),
  }
  await store.append('account-1', 0n, [event])
  await close()
  const [json, text, found, none] = await commands.runInTurn([
    ['audit', 'user', '1', '--json'],
    ['audit', 'user', '1'],
    ['events', '--trace', id, '--json'],
    ['events', '--trace', 'b2'.repeat(16), '--json'],
  ])
  const entries = JSON.parse(json?.out ?? '') as { type: string; trace?: string }[]
  assert.equal(
    entries.filter((entry) => entry.trace !== undefined).map(({ type, trace: traceId }) => [type, traceId]),
    [['plan changed', id]],
  )
  assert.match(text?.out ?? '', `later (trace ${id})`)
  const { stream, metadata } = JSON.parse(found?.out ?? '') as {
    stream: string
    metadata: { traceparent: string }
  }
  assert.equal([stream, metadata.traceparent, none?.out], ['account-1', trace, ''])
})

test('ends with 2 without a subject or an id, for an unknown subject, and for invalid options', async ({
  commands,
}) => {
  await commands.json('user', 'add', 'ann@example.com', '--password', 'right horse')
  const ended = await commands.runInTurn([
    ['audit'],
    ['audit', 'stone', '7'],
    ['audit', 'user'],
    ['audit', 'user', '1', '--at', 'soon'],
    ['audit', 'user', '1', '--diff', '2026-01-01'],
  ])
  assert.equal(
    ended.map(({ code, out }) => [code, out]),
    ended.map(() => [2, '']),
  )
})

test.run()
