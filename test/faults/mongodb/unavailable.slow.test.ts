import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect, refusal, type ApiResponse } from '../../api/harness/request.ts'
import { newSender, shared, form } from '../../api/harness/secrets.ts'
import { startService, type Service } from '../../api/harness/service.ts'
import { created, createdMany, list, stone, type Shown } from '../../api/harness/stones.ts'
import { FERRETDB, startFerretDB, type FerretDB } from '../../ferretdb/server.ts'
import { freeze, thaw } from '../../freeze.ts'
import { until } from '../../until.ts'

type Given = { folder: string; dataDir: string; ferret: FerretDB; service: Service }
const test = suite<Given>('a service whose MongoDB is unavailable')

test.before.each(async (given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'adamant-away-'))
  given.ferret = await startFerretDB(given.folder)
  given.dataDir = join(given.folder, 'data')
  given.service = await startService({
    dataDir: given.dataDir,
    settings: { READ_MODEL: `${given.ferret.address}adamant` },
  })
})
test.after.each(async ({ folder, ferret, service }) => {
  await service.stop()
  await ferret.kill()
  rmSync(folder, { recursive: true, force: true })
})

const ready = async (service: Service) => (await service.send({ path: '/health/ready' })).status === 200

/** Asserts that writes succeed, because they do not need the read models. @returns the created stone */
async function acceptsWrites({ service: { ann } }: Given, first: Shown): Promise<Shown> {
  const response = expect(201, await ann.post('/v4/diamond', stone({ sku: 'MEANWHILE' })))
  assert.is(response.headers['x-consistency'], 'pending')
  expect(200, await ann.patch(`/v4/diamond/${first.id}`, { price: 7 }))
  const after = expect(200, await ann.get(`/v4/diamond/${first.id}`)).json() as Shown
  assert.is(after['price'], 7)
  return response.json() as Shown
}

/** Asserts that requests that need the read models or the vault fail with Retry-After. */
async function rejectsReads({ service }: Given, authorization: string): Promise<void> {
  const { ann } = service
  const refused: ApiResponse[] = [await ann.get('/v4/diamond'), await ann.get('/v3/diamond')]
  for (const response of refused) refusal(503, response)
  refused.push(expect(503, await service.send(form('/api/v1/share', 'secret=x', authorization))))
  for (const { headers } of refused) assert.match(String(headers['retry-after']), /^\d+$/)
  const { text } = expect(503, await service.send({ path: '/health/ready' }))
  assert.match(text, 'the read models are unavailable')
  expect(200, await service.send({ path: '/health/live' }))
}

async function hasEverything({ service: { ann } }: Given, meanwhile: Shown, first: Shown, before: number) {
  const all = list(expect(200, await ann.get('/v4/diamond?limit=1000')))
  assert.is(all.length, before + 2)
  assert.is((await ann.get('/v4/diamond')).headers['x-total-count'], String(before + 2))
  assert.is(all.filter(({ id }) => id === meanwhile.id).length, 1)
  assert.is(all.find(({ id }) => id === first.id)?.['price'], 7)
}

const FAULTS: readonly (readonly [
  name: string,
  begin: (ferret: FerretDB) => Promise<void>,
  end: (given: Given) => Promise<void>,
])[] = [
  [
    'is killed and restarted',
    (ferret) => ferret.kill(),
    async (given) => void (given.ferret = await startFerretDB(given.folder, given.ferret.port)),
  ],
  ['hangs and continues', ({ pid }) => freeze(pid), async ({ ferret }) => thaw(ferret.pid)],
]

for (const [name, begin, end] of FAULTS) {
  test(`loses nothing and recovers automatically when MongoDB ${name}`, async (given) => {
    const { service } = given
    const sender = await newSender(service.installation)
    const kept = await shared(service.url, sender, { secret: 'before' })
    await createdMany(service.ann, 20, 'BEFORE')
    const first = await created(service.ann, { sku: 'FIRST' })
    await begin(given.ferret)
    try {
      const meanwhile = await acceptsWrites(given, first)
      await rejectsReads(given, sender.authorization)
      await end(given)
      await until('the service to be ready again', () => ready(service))
      await hasEverything(given, meanwhile, first, 20)
      const revealed = await service.send({ method: 'POST', path: `/api/v1/secret/${kept.secret_key}` })
      assert.is((expect(200, revealed).json() as { value: string }).value, 'before')
    } finally {
      await thawIfFrozen(given)
    }
  })
}

/** A frozen process would not react to SIGTERM. */
const thawIfFrozen = async ({ ferret }: Given) => {
  try {
    thaw(ferret.pid)
  } catch {
    // The process has ended.
  }
}

test('starts without MongoDB and becomes ready when it is available', async (given) => {
  await given.service.stop()
  await given.ferret.kill()
  const settings = { READ_MODEL: `${given.ferret.address}adamant`, ROLES: 'http' }
  const service = await startService({ dataDir: given.dataDir, settings, vendors: given.service })
  given.service = service
  const { text } = expect(503, await service.send({ path: '/health/ready' }))
  assert.match(text, 'the read models are unavailable')
  given.ferret = await startFerretDB(given.folder, given.ferret.port)
  await until('the read models to be reached', async () => {
    const response = await service.send({ path: '/health/ready' })
    return !response.text.includes('are unavailable')
  })
})

if (FERRETDB === undefined) console.log('LEFT OUT: an unavailable MongoDB: FERRETDB_BIN is not set')
else test.run()
