import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../../src/runtime/logger.ts'
import { certifications } from '../../../src/projections/certifications/certifications.ts'
import { checkpointModelOf } from '../../../src/projections/engine/reaction.ts'
import { commitElsewhere, DAMAGES, fileIn, overwriteMiddle, overwritePageWith, putAsideIn } from '../../damage.ts'
import { until } from '../../until.ts'
import { vendor, type Vendor } from '../harness/account.ts'
import { servicesInFolder, type Start } from '../harness/folder.ts'
import { attached } from '../harness/form.ts'
import { expect, refusal } from '../harness/request.ts'
import type { Service } from '../harness/service.ts'
import { created, list, shown, stone } from '../harness/stones.ts'

const ROLES = 'http,projections'
const STONES = 40

const test = suite('a damaged read model')

type Filled = { readonly dataDir: string; readonly first: number; readonly ann: (service: Service) => Vendor }

/** Runs on the folder of a stopped service with stones, one of which is certified. */
const withStones = (run: (start: Start, filled: Filled) => Promise<void>) =>
  servicesInFolder(async (start, dataDir) => {
    const service = await start(ROLES, {}, { scored: true })
    const { account, token } = service.ann
    const { id: first } = await created(service.ann, { sku: 'FIRST' })
    await attached(service.ann, first)
    const entries = Array.from({ length: STONES - 1 }, (_, index) => stone({ sku: `S-${index}` }))
    expect(201, await service.ann.post('/v4/diamond/bulk', { entries }))
    await service.stop()
    await run(start, { dataDir, first, ann: ({ url }) => vendor(url, account, token) })
  })

const total = async (ann: Vendor): Promise<string> =>
  String(expect(200, await ann.get('/v4/diamond?limit=1')).headers['x-total-count'])

for (const [name, damage] of DAMAGES) {
  test(`${name} is rebuilt at the start, while everything else is served`, () =>
    withStones(async (start, { dataDir, first, ann }) => {
      damage(fileIn(dataDir, 'read-diamonds'))
      const service = await start(ROLES)
      const client = ann(service)
      expect(200, await client.get(`/v4/diamond/${first}`))
      assert.is(await total(client), String(STONES))
      assert.is(putAsideIn(dataDir).length, 1)
    }))
}

test('that is found by a list gets 503 there, is rebuilt from the log, and shows every stone again', () =>
  withStones(async (start, { dataDir, first, ann }) => {
    const lines: string[] = []
    const log = createLogger('warn', { write: (line: string) => void lines.push(line) })
    const service = await start(ROLES, {}, { installation: (opened) => ({ ...opened, log }) })
    const client = ann(service)
    const file = fileIn(dataDir, 'read-diamonds')
    overwriteMiddle(file)
    commitElsewhere(file)
    const refused = expect(503, await client.get('/v4/diamond'))
    assert.is(refused.headers['retry-after'], '2')
    assert.is(shown(expect(200, await client.get(`/v4/diamond/${first}`)))['sku'], 'FIRST')
    expect(200, await client.get(`/v4/diamond/${first}/history`))
    expect(201, await client.post('/v4/diamond', stone({ sku: 'LATER' })))
    expect(200, await service.send({ path: '/health/live' }))
    await until('the list to be back', async () => (await client.get('/v4/diamond')).status === 200)
    assert.is(await total(client), String(STONES + 1))
    assert.equal(list(expect(200, await client.get('/v4/diamond?f[sku][]=LATER'))).length, 1)
    assert.is(putAsideIn(dataDir).length, 1)
    assert.not.match(lines.join(''), /\.ts:\d/, 'a stack trace')
  }))

test('that is found while no event arrives is rebuilt nevertheless', () =>
  withStones(async (start, { dataDir, ann }) => {
    const service = await start(ROLES)
    const file = fileIn(dataDir, 'read-certifications')
    overwriteMiddle(file)
    commitElsewhere(file)
    const { reads } = service.installation
    const { declaration } = certifications
    const model = await reads.model(declaration)
    await until('the damage to be found', async () => (await reads.findDamage([declaration])).length > 0)
    await until('the read model to be back', async () => (await model.position()) !== 'start')
    assert.is(await model.count({ digest: { from: '0' } }), 1)
    assert.is(await total(ann(service)), String(STONES))
  }))

for (const name of ['scoring', 'reports', 'webhook-deliveries']) {
  test(`that holds the checkpoint of ${name} is replaced, and the reaction goes on`, () =>
    withStones(async (start, { dataDir, ann }) => {
      overwriteMiddle(fileIn(dataDir, `read-${name}-v`))
      const service = await start(ROLES, {}, { scored: true })
      await created(ann(service))
      const model = await service.installation.reads.model(checkpointModelOf(name))
      await until('a new checkpoint', async () => (await model.position()) !== 'start')
      assert.is(putAsideIn(dataDir).length, 1)
      assert.is(await total(ann(service)), String(STONES + 1))
    }))
}

test('is no reason to lose a stone if it is the index of read models', () =>
  withStones(async (start, { dataDir, ann }) => {
    overwriteMiddle(fileIn(dataDir, 'read-models'))
    const service = await start(ROLES)
    assert.is(await total(ann(service)), String(STONES))
  }))

test.run()

const log = suite('a damaged page of the event log')

log('gets 503 for what is on it, with the remedy in the log, and everything else is served', () =>
  withStones(async (start, { dataDir, first, ann }) => {
    const lines: string[] = []
    const logger = createLogger('warn', { write: (line: string) => void lines.push(line) })
    const service = await start(ROLES, {}, { installation: (opened) => ({ ...opened, log: logger }) })
    const client = ann(service)
    const file = fileIn(dataDir, 'events')
    overwritePageWith(file, '"FIRST"')
    commitElsewhere(file)
    refusal(503, await client.get(`/v4/diamond/${first}/history`))
    assert.is(await total(client), String(STONES))
    expect(201, await client.post('/v4/diamond', stone()))
    expect(200, await service.send({ path: '/health/ready' }))
    assert.match(lines.join(''), /events\.db is damaged: stop the service, and run `adamant restore FROM --replace`/)
    assert.not.match(lines.join(''), /\.ts:\d/, 'a stack trace')
  }),
)

log.run()
