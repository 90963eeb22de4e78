import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { OPTICS_VERSION } from '../../src/optics/version.ts'
import { comparePositions, type EventStore } from '../../src/stores/ports/event-store.ts'
import { areEmbedded } from '../engines.ts'
import { openStores, type Stores } from '../open-stores.ts'
import { until } from '../until.ts'
import { appendScoresOfVersion } from '../reactions/scoring/older-scores.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine; stores: Stores }
const test = suite<Context>('rescore')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
  await context.commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  context.stores = await openStores(context.commands.dataDir)
})
test.after.each(async ({ commands, stores }) => {
  await stores.close()
  await commands.remove()
})

type Scoring = { lag: number; running: boolean }

const OLDER = '0.9.3+00c0ffee'

/** Imports stones with the ids 1 to `stones`. */
async function importStones({ commands }: Context, stones: number): Promise<number[]> {
  const ids = Array.from({ length: stones }, (_, index) => index + 1)
  const file = join(commands.folder, 'stones.csv')
  writeFileSync(file, `sku,cutShape,carat\n${ids.map((id) => `A-${id},Round,1`).join('\n')}\n`)
  await commands.json('import', file, '--user', 'a@example.com')
  return ids
}

async function logIn({ commands }: Context, url: string): Promise<string> {
  const { client_id, client_secret } = await commands.json('client', 'add', 'tests')
  const credentials = { client_id: String(client_id), client_secret: String(client_secret) }
  const user = { grant_type: 'password', username: 'a@example.com', password: 'right horse' }
  const response = await fetch(`${url}/api/oauth/v2/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...user, ...credentials }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

/** The model versions that each diamond was scored by, oldest first, by diamond id. */
async function scoreVersionsById(log: EventStore): Promise<Map<unknown, unknown[]>> {
  const found = new Map<unknown, unknown[]>()
  for await (const { data } of log.readAll('start', { prefixes: ['scores-'] })) {
    const { ver } = (data['scores'] as { integral: { ver: string } }).integral
    found.set(data['id'], [...(found.get(data['id']) ?? []), ver])
  }
  return found
}

test('updates a running service before the command ends', async (context) => {
  const { commands } = context
  const { store: log } = context.stores
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  const headers = { Authorization: `Bearer ${await logIn(context, url)}` }
  const [id = 0] = await importStones(context, 1)
  const stone = async () => fetch(`${url}/v4/diamond/${id}`, { headers })
  await until('the first scores', async () => (await stone()).headers.get('etag') === '"0.1"')
  await appendScoresOfVersion(log, OLDER, [id])

  const { rescored } = await commands.json('rescore')

  const shown = await stone()
  assert.is(rescored, 1)
  assert.is(shown.headers.get('etag'), '"0.3"')
  assert.match(await shown.text(), `"ver":"${OPTICS_VERSION}"`)
  assert.equal((await scoreVersionsById(log)).get(id), [OPTICS_VERSION, OLDER, OPTICS_VERSION])
  server.kill('SIGTERM')
  assert.is((await server.ended).code, 0)
})

test('is not required for new stones: the service scores them, and status shows the lag', async (context) => {
  const { commands } = context
  await importStones(context, 3)
  const behind = (await commands.jsonWithExitCode(1, ['status']))['scoring'] as Scoring
  assert.equal([behind.lag, behind.running], [3, false])
  const server = commands.start(['serve', '--json'])
  await server.line()
  await until('scoring to catch up', async () => {
    const { out: output } = await commands.run(['status', '--json'])
    const { lag, running } = (JSON.parse(output) as { scoring: Scoring }).scoring
    return lag === 0 && running
  })
  const { out } = await commands.run(['status'])
  assert.match(out, /^scoring model +position +lag +running\n\S+ +\d+ +0 +yes$/m)
  server.kill('SIGTERM')
  await server.ended
})

/** Serves until every stone has scores. */
async function serveUntilScored(commands: CommandLine): Promise<void> {
  const server = commands.start(['serve', '--json'])
  await server.line()
  await until('scoring to catch up', async () => {
    const { out } = await commands.run(['status', '--json'])
    return (JSON.parse(out) as { scoring: Scoring }).scoring.lag === 0
  })
  server.kill('SIGTERM')
  await server.ended
}

test('is the only way to replace scores: a service without its read models scores only stones without scores', async (context) => {
  const { commands } = context
  const { store: log } = context.stores
  const ids = await importStones(context, 3)
  await appendScoresOfVersion(log, OLDER, ids.slice(0, 2))
  await serveUntilScored(commands)
  assert.equal([...(await scoreVersionsById(log)).values()], [[OLDER], [OLDER], [OPTICS_VERSION]])
})

const testEmbedded = areEmbedded ? test : test.skip
testEmbedded('is the only way to replace scores: a restore of an older backup keeps them', async (context) => {
  const { commands } = context
  const ids = await importStones(context, 3)
  await appendScoresOfVersion(context.stores.store, OLDER, ids.slice(0, 2))
  const backup = join(commands.folder, 'backup')
  await commands.json('backup', backup)
  await context.stores.close()
  await commands.json('restore', backup, '--replace')
  await serveUntilScored(commands)
  context.stores = await openStores(commands.dataDir)
  const found = await scoreVersionsById(context.stores.store)
  assert.equal([...found.values()], [[OLDER], [OLDER], [OPTICS_VERSION]])
})

test('stops on SIGTERM, and the next run rescores the rest', async (context) => {
  const { commands } = context
  const { store: log } = context.stores
  const ids = await importStones(context, 3_000)
  for (let from = 0; from < ids.length; from += 500)
    await appendScoresOfVersion(log, OLDER, ids.slice(from, from + 500))
  const before = await log.head()

  const stopped = commands.start(['rescore', '--json'])
  await until('the first stones', async () => comparePositions(await log.head(), before) > 0)
  stopped.kill('SIGTERM')
  const { code, out, err } = await stopped.ended

  const [, done] = /^adamant: Stopped after rescoring ([\d,]+) of 3,000 stones/m.exec(err) ?? []
  assert.is(code, done === undefined ? 0 : 1, err)
  assert.is(done === undefined, out !== '')
  const first = done === undefined ? 3_000 : Number(done.replaceAll(',', ''))
  assert.ok(first >= 100)
  const { rescored, current } = await commands.json('rescore')
  assert.equal([rescored, current], [3_000 - first, first])
  const found = await scoreVersionsById(log)
  assert.ok(ids.every((id) => String(found.get(id)) === `${OLDER},${OPTICS_VERSION}`))
})

test('finds nothing to do in an empty installation', async ({ commands }) => {
  const { rescored, current, newer } = await commands.json('rescore')
  assert.equal([rescored, current, newer], [0, 0, 0])
})

test.run()
