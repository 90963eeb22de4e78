import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { form, newSender } from '../../api/harness/secrets.ts'
import { startService } from '../../api/harness/service.ts'
import { startMongoProxy } from '../../mongo-proxy/proxy.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'

const server = await mongoServer('slow creation of indexes')
const test = suite('a service whose MongoDB creates indexes slowly')

/** Number of the vault's indexes that are created before one takes longer than a call's timeout. */
const CREATED = 4

test('rejects secrets until all indexes are created, each once', async () => {
  const address = server?.newDatabase() ?? ''
  const proxy = await startMongoProxy(address)
  const requested: string[] = []
  let finish = () => {}
  const finished = new Promise<void>((done) => (finish = done))
  proxy.rule((name, body) => {
    if (name !== 'createIndexes' || !String(body[name]).startsWith('vault_')) return undefined
    requested.push(JSON.stringify([body[name], body['indexes']]))
    return requested.length > CREATED ? { until: finished } : undefined
  })
  const service = await startService({ settings: { READ_MODEL: proxy.address } })
  try {
    const { authorization } = await newSender(service.installation)
    const share = form('/api/v1/share', 'secret=x', authorization)
    await until('a share to be rejected', async () => (await service.send(share)).status === 503)
    finish()
    await until('a share to be accepted', async () => (await service.send(share)).status === 200)
    const repeated = requested.slice(CREATED).filter((index) => requested.indexOf(index) < CREATED)
    assert.equal(repeated, [], 'an index was created twice')
  } finally {
    await service.stop()
    await proxy.stop()
    await server?.drop(address)
  }
})

if (server !== undefined) test.run()
