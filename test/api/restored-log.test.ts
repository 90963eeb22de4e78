import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { areEmbedded } from '../engines.ts'
import { vendor, type Vendor } from './harness/account.ts'
import { withFolder, type Start } from './harness/folder.ts'
import { expect, refusal, request } from './harness/request.ts'
import { attached, pathOf } from './harness/form.ts'
import { newSender, shared, type Sender } from './harness/secrets.ts'
import { startService, type Service } from './harness/service.ts'
import { created, list, shown, stone } from './harness/stones.ts'

const test = suite('a log that was restored from a backup')

/** What was there at the backup, and what only the lost days knew. */
type Restored = {
  readonly kept: number
  readonly lost: number
  readonly lostFile: string
  readonly ann: (service: Service) => Vendor
  readonly sender: Sender
}

/** Sets the log back while nothing runs; the read models have seen more. */
async function restored(dataDir: string): Promise<Restored> {
  const file = join(dataDir, 'events.db')
  const before = await startService({ dataDir })
  const { id: kept } = await created(before.ann, { sku: 'KEPT', price: 1 })
  const sender = await newSender(before.installation)
  const { account, token } = before.ann
  await before.stop()
  copyFileSync(file, `${file}.backup`)
  const later = await startService({ dataDir })
  const ann = (service: Service) => vendor(service.url, account, token)
  expect(200, await ann(later).patch(`/v4/diamond/${kept}`, { sku: 'LOST' }))
  const { id: lost } = await created(ann(later), { sku: 'LOST' })
  const lostFile = pathOf((await attached(ann(later), lost)).file)
  await shared(later.url, sender, { secret: 'lost' })
  await later.stop()
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
  copyFileSync(`${file}.backup`, file)
  return { kept, lost, lostFile, ann, sender }
}

async function withRestored(run: (restored: Restored, start: Start) => Promise<void>) {
  if (!areEmbedded) return console.log('NOTE: not run on these engines: the log is set back by putting its file back')
  await withFolder(async (start, dataDir) => run(await restored(dataDir), start))
}

test('is what a process without projections answers from, never the models of the days that were lost', () =>
  withRestored(async ({ kept, lost, lostFile, ann: annOf, sender }, start) => {
    const service = await start('http')
    const ann = annOf(service)
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
      const listed = expect(200, await annOf(one).get('/v4/diamond'))
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

test('has its models made anew by a process that projects', () =>
  withRestored(async ({ kept, lost, ann: annOf }, start) => {
    const ann = annOf(await start('http,projections'))
    assert.equal(
      list(expect(200, await ann.get('/v4/diamond'))).map(({ id, sku }) => [id, sku]),
      [[kept, 'KEPT']],
    )
    refusal(404, await ann.get(`/v4/diamond/${lost}`))
  }))

test.run()
