import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { form, newSender, reveal, shared } from '../../api/harness/secrets.ts'
import { expect } from '../../api/harness/request.ts'
import { startService, type Service } from '../../api/harness/service.ts'
import { created, list } from '../../api/harness/stones.ts'
import { startMongoProxy, type MongoProxy } from '../../mongo-proxy/proxy.ts'
import { hungMajority } from '../../mongo-proxy/rules.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'

const server = await mongoServer('a MongoDB whose majority hangs')

type Given = { proxy: MongoProxy; service: Service; address: string }
const test = suite<Given>('a service whose MongoDB has a hanging majority')

test.before.each(async (given) => {
  given.address = server?.newDatabase() ?? ''
  given.proxy = await startMongoProxy(given.address)
  given.service = await startService({ settings: { READ_MODEL: given.proxy.address } })
})
test.after.each(async ({ proxy, service, address }) => {
  proxy.rule()
  await service.stop()
  await proxy.stop()
  await server?.drop(address)
})

/** More than the driver's connections. */
const SHARES = 150
/** Rounds of reads while the shares wait. */
const READS = 4

test('rejects new secrets and still serves lists, diamonds and secrets', async ({ proxy, service }) => {
  const sender = await newSender(service.installation)
  const kept = await shared(service.url, sender, { secret: 'before' })
  const { id } = await created(service.ann, { sku: 'BEFORE' })
  let isOver = () => {}
  const hanging = hungMajority(new Promise<void>((done) => (isOver = done)))
  let waiting = 0
  proxy.rule((name, body) => {
    const fault = hanging(name, body)
    if (fault !== undefined) waiting++
    return fault
  })
  const share = form('/api/v1/share', 'secret=x', sender.authorization)
  const shares = Array.from({ length: SHARES }, () => service.send(share))
  for (let round = 0; round < READS; round++) {
    const before = waiting
    await until('writes that wait for the majority', () => waiting > before)
    assert.is(list(expect(200, await service.ann.get('/v4/diamond'))).length, 1)
    expect(200, await service.ann.get(`/v4/diamond/${id}`))
  }
  for (const rejected of await Promise.all(shares)) {
    expect(503, rejected)
    assert.match(String(rejected.headers['retry-after']), /^\d+$/)
  }
  const revealed = expect(200, await reveal(service.url, kept.secret_key)).json() as { value: string }
  assert.is(revealed.value, 'before')
  isOver()
  proxy.rule()
  await until('shares to be accepted again', async () => (await service.send(share)).status === 200)
})

if (server !== undefined) test.run()
