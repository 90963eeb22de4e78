import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import { stone } from '../../api/harness/stones.ts'
import { CommandLine } from '../../cli/command-line.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'
import { appendScoresOfVersion } from '../../reactions/scoring/older-scores.ts'
import { until } from '../../until.ts'

type Context = { peer: Peer; commands: CommandLine; settings: Record<string, string> }
const test = suite<Context>('a service whose events an operator removed from EventStoreDB')
test.before.each(async (context) => {
  context.peer = await startPeer()
  context.commands = new CommandLine()
  context.settings = { EVENT_STORE: context.peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
  await run(context, 'user', 'add', 'a@example.com', '--password', 'right horse')
})
test.after.each(async ({ peer, commands }) => {
  await commands.remove()
  await peer.stop()
})

async function run({ commands, settings }: Context, ...words: string[]) {
  const { code, out, err } = await commands.run([...words, '--json'], settings)
  const [result = '{}'] = out.trim().split('\n').slice(-1)
  return { code, err, result: JSON.parse(result) as Record<string, unknown> }
}

async function startService({ commands, settings }: Context) {
  const service = commands.start(['serve', '--json'], settings)
  const { url } = JSON.parse(await service.line()) as { url: string }
  return { url, stop: async () => (service.kill('SIGTERM'), (await service.ended).code) }
}

/** Imports stones. @returns their ids */
async function importStones(context: Context, count: number): Promise<string[]> {
  const { peer, commands } = context
  const before = peer.log.all.length
  const file = join(commands.folder, 'stones.csv')
  writeFileSync(
    file,
    `sku,cutShape,carat\n${Array.from({ length: count }, (_, n) => `A-${before + n},Round,1`).join('\n')}\n`,
  )
  assert.is((await run(context, 'import', file, '--user', 'a@example.com')).code, 0)
  const created = peer.log.all.slice(before).filter(({ type }) => type === 'DiamondCreated')
  assert.is(created.length, count)
  return created.map(({ stream }) => stream.slice('diamond-'.length))
}

const untilScored = ({ peer }: Context, ids: readonly string[]) =>
  until('scores', () => ids.every((id) => peer.log.stream(`scores-${id}`) !== undefined))

/** Sets $tb of a stream's metadata, which hides all of its events. */
function hide({ log }: Peer, stream: string): void {
  const data = Buffer.from(JSON.stringify({ $tb: 1 }))
  const metadata = Buffer.of()
  log.append(`$$${stream}`, 'any', [
    { id: randomUUID(), type: '$metadata', contentType: 'application/json', data, metadata },
  ])
}

/** @returns the header of requests with a new access token */
async function logIn(context: Context, url: string): Promise<{ readonly Authorization: string }> {
  const { client_id, client_secret } = (await run(context, 'client', 'add', 'tests')).result
  const credentials = { client_id: String(client_id), client_secret: String(client_secret) }
  const user = { grant_type: 'password', username: 'a@example.com', password: 'right horse' }
  const body = new URLSearchParams({ ...user, ...credentials })
  const response = await fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body })
  assert.is(response.status, 200)
  return { Authorization: `Bearer ${((await response.json()) as { access_token: string }).access_token}` }
}

type DeadLetter = { readonly model: string; readonly stream: string; readonly reason: string }

test('scores all other stones after its read models were lost, with dead letters that say what happened', async (context) => {
  const { peer, commands } = context
  const stones = await importStones(context, 4)
  const first = await startService(context)
  await untilScored(context, stones)
  assert.is(await first.stop(), 0)
  peer.log.delete('scores-1')
  hide(peer, 'scores-2')
  peer.log.tombstone('scores-3')
  for (const name of readdirSync(commands.dataDir).filter((entry) => entry.startsWith('read-')))
    rmSync(join(commands.dataDir, name))

  const service = await startService(context)
  await until('scoring to catch up', async () => {
    const { lag, running } = (await run(context, 'status')).result['scoring'] as { lag: number; running: boolean }
    return lag === 0 && running
  })

  const { deadLetters } = (await run(context, 'dead-letters', 'list')).result as { deadLetters: DeadLetter[] }
  const ofScoring = deadLetters.filter(({ model }) => model === 'scoring')
  assert.equal(ofScoring.map(({ stream }) => stream).toSorted(), ['diamond-1', 'diamond-2', 'diamond-3'])
  for (const { stream, reason } of ofScoring)
    assert.match(reason, `${stream.replace('diamond', 'scores')}: events were removed from this stream by hand`)
  await untilScored(context, await importStones(context, 1))
  await logIn(context, service.url)
  assert.is(await service.stop(), 0)
})

test('names the stones whose older scores were removed on rescore, and scores the others', async (context) => {
  const { peer, settings } = context
  assert.equal(await importStones(context, 3), ['1', '2', '3'])
  const store = openEventStoreDB(settings['EVENT_STORE'] ?? '')
  await appendScoresOfVersion(store, '0.9.3+00c0ffee', [1, 2, 3])
  await store.close()
  hide(peer, 'scores-1')
  peer.log.tombstone('scores-2')

  const { code, err, result } = await run(context, 'rescore')

  assert.equal([code, result['rescored']], [0, 1], err)
  for (const stream of ['scores-1', 'scores-2']) assert.match(err, `${stream}: events were removed`)
  assert.is(peer.log.stream('scores-3')?.length, 2)
})

test('answers a repeated request whose record was removed with 409, and writes nothing', async (context) => {
  const { log } = context.peer
  const service = await startService(context)
  const headers = {
    ...(await logIn(context, service.url)),
    'Idempotency-Key': 'k-1',
    'Content-Type': 'application/json',
  }
  const body = JSON.stringify(stone())
  const send = () => fetch(`${service.url}/v4/diamond`, { method: 'POST', headers, body })
  assert.is((await send()).status, 201)
  const ofDiamonds = () => log.all.filter(({ stream }) => stream.startsWith('diamond-'))
  const record = log.all.find(({ stream }) => stream.startsWith('request-'))?.stream ?? ''
  log.tombstone(record)

  const repeated = await send()

  assert.is(repeated.status, 409)
  assert.match(await repeated.text(), /The data of this resource was removed by the operator/)
  assert.is(ofDiamonds().length, 1)
  assert.is(await service.stop(), 0)
})

test.run()
