import { readEpoch } from '../../src/events/lineage.ts'
import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import { areEmbedded } from '../engines.ts'
import { vendor, type Vendor } from './harness/account.ts'
import { readChanges, Consumer, inventoryOf } from './harness/feed.ts'
import { newEpoch } from './harness/new-epoch.ts'
import { servicesInFolder, type Start } from './harness/folder.ts'
import { expect, refusal, request } from './harness/request.ts'
import { attached, pathOf } from './harness/form.ts'
import { newSender, shared, type Sender } from './harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { created, list, shown, stone } from './harness/stones.ts'

const test = suite('a log restored from a backup')

/** What the backup contains, and what was written after it and is lost. */
type RestoredLog = {
  readonly kept: number
  readonly lost: number
  readonly lostFile: string
  readonly ann: (service: Service) => Promise<Vendor>
  readonly sender: Sender
}

/** Replaces the log with an older copy while no service runs; the read models are ahead of it. */
async function restoreOldLog(dataDir: string): Promise<RestoredLog> {
  const file = join(dataDir, 'events.db')
  const before = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, dataDir })
  const { id: kept } = await created(before.ann, { sku: 'KEPT', price: 1 })
  const sender = await newSender(before.installation)
  const { account, token } = before.ann
  await before.stop()
  copyFileSync(file, `${file}.backup`)
  const later = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, dataDir })
  const annAtLater = vendor(later.url, account, token)
  expect(200, await annAtLater.patch(`/v4/diamond/${kept}`, { sku: 'LOST' }))
  const { id: lost } = await created(annAtLater, { sku: 'LOST' })
  const lostFile = pathOf((await attached(annAtLater, lost)).file)
  await shared(later.url, sender, { secret: 'lost' })
  await later.stop()
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
  copyFileSync(`${file}.backup`, file)
  return { kept, lost, lostFile, ann: (service) => vendorWithNewToken(service, account), sender }
}

/** Read model timeout where no process rebuilds the read models. */
const SHORT_TIMEOUT_MS = 20

async function withOldLog(run: (restored: RestoredLog, start: Start, dataDir: string) => Promise<void>) {
  if (!areEmbedded)
    return console.log('NOTE: not run on these engines, because the test restores the log by copying its file')
  await servicesInFolder(async (start, dataDir) => run(await restoreOldLog(dataDir), start, dataDir))
}

/** Like `withOldLog`, after the operator has begun a new epoch. */
const withRestored = (run: (restored: RestoredLog, start: Start) => Promise<void>) =>
  withOldLog(async (found, start, dataDir) => {
    await newEpoch(dataDir)
    await run(found, start)
  })

/** The vendor of an existing account, with a token for the current epoch. */
async function vendorWithNewToken({ url, installation }: Service, account: number): Promise<Vendor> {
  const { keys, settings, context, store } = installation
  const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock: context.clock })
  const grant = { account, accountEpoch: 0, client: '1_x', clientEpoch: 0, logEpoch: await readEpoch(store) }
  return vendor(url, account, tokens.issue(grant, 'again', 0))
}

for (const [description, remove] of [
  ['', []],
  [', without its read models', ['read-', 'vault']],
  [', without any other file', ['read-', 'vault', 'seen']],
] as const) {
  const served = remove.length === 3
  test(`by hand${description} is ${served ? 'served' : 'not served by any role, and the error names the command to run'}`, () =>
    withOldLog(async (_, start, dataDir) => {
      for (const name of readdirSync(dataDir)) {
        if (remove.some((prefix) => name.startsWith(prefix))) rmSync(join(dataDir, name))
      }
      for (const roles of served ? ['http,projections'] : ['http', 'projections', 'http,projections']) {
        const outcome = await start(roles).then(
          () => 'it was served',
          (error: unknown) => (error instanceof Error ? error.message : String(error)),
        )
        if (served) assert.is(outcome, 'it was served')
        else assert.match(outcome, /^The event log does not have an event that .* has seen .*adamant restore/)
        assert.not.match(outcome, '\n')
      }
    }))
}

test('has a feed of changes that returns 410 with the cursor to restart from', () =>
  withRestored(async ({ ann: annOf }, start) => {
    const service = await start('http,projections')
    const ann = await annOf(service)
    const { next } = await readChanges(ann, 'after=0-0')
    assert.match(next, /^[1-9]\d*-1$/)
    const lost = await ann.get('/v4/diamond/changes?after=0-100')
    assert.match(refusal(410, lost).error.join(), 'were lost')
    assert.is((lost.json() as { restart: string }).restart, next)
    assert.equal((await readChanges(ann, `after=${next}`)).changes, [])
    const follower = new Consumer()
    await follower.catchUp(ann)
    assert.equal(follower.inventory, await inventoryOf(ann))
  }))

test('is the source of responses without projections, never the read models of the lost events', () =>
  withRestored(async ({ kept, lost, lostFile, ann: annOf, sender }, start) => {
    const service = await start('http', {}, { readModelTimeoutMs: SHORT_TIMEOUT_MS })
    const ann = await annOf(service)
    expect(503, await service.send({ path: '/health/ready' }))
    for (const version of ['v3', 'v4']) {
      assert.is(shown(expect(200, await ann.get(`/${version}/diamond/${kept}`))).sku, 'KEPT')
      refusal(404, await ann.get(`/${version}/diamond/${lost}`))
      const listed = await ann.get(`/${version}/diamond`)
      refusal(503, listed)
      assert.ok(Number(listed.headers['retry-after']) > 0)
      assert.not.match(listed.text, 'LOST')
    }
    refusal(404, await service.send({ path: lostFile }))
    const recent = { path: '/api/v1/private/recent', headers: { Authorization: sender.authorization } }
    expect(503, await request(service.url, recent))
    const patched = expect(200, await ann.patch(`/v4/diamond/${kept}`, { price: 2 }))
    assert.equal([shown(patched).sku, patched.headers['x-consistency']], ['KEPT', 'pending'])
    const made = expect(201, await ann.post('/v4/diamond', stone({ sku: 'NEW' })))
    assert.is(made.headers['x-consistency'], 'pending')

    const projecting = await start('http,projections')
    for (const one of [projecting, service]) {
      const listed = expect(200, await (await annOf(one)).get('/v4/diamond'))
      assert.equal(
        list(listed).map(({ sku, price }) => [sku, price]),
        [
          ['NEW', null],
          ['KEPT', 2],
        ],
      )
      expect(200, await one.send({ path: '/health/ready' }))
      expect(200, await request(one.url, recent))
    }
  }))

test('has its read models rebuilt by a projecting process', () =>
  withRestored(async ({ kept, lost, ann: annOf }, start) => {
    const ann = await annOf(await start('http,projections'))
    assert.equal(
      list(expect(200, await ann.get('/v4/diamond'))).map(({ id, sku }) => [id, sku]),
      [[kept, 'KEPT']],
    )
    refusal(404, await ann.get(`/v4/diamond/${lost}`))
  }))

test.run()
