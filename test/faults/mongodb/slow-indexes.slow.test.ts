import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { form, newSender } from '../../api/harness/secrets.ts'
import { startService } from '../../api/harness/service.ts'
import { startMongoProxy } from '../../mongo-proxy/proxy.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'

const server = await mongoServer('a MongoDB that is slow to make indexes')
const test = suite('a service whose MongoDB is slow to make indexes')

/** How many of the vault's indexes are there when the next one takes longer than a call may. */
const MADE = 4

test('refuses secrets meanwhile, and is there for them as soon as all are made, each once', async () => {
  const address = server?.newDatabase() ?? ''
  const proxy = await startMongoProxy(address)
  const asked: string[] = []
  let isMade = () => {}
  const made = new Promise<void>((done) => (isMade = done))
  proxy.rule((name, body) => {
    if (name !== 'createIndexes' || !String(body[name]).startsWith('vault_')) return undefined
    asked.push(JSON.stringify([body[name], body['indexes']]))
    return asked.length > MADE ? { until: made } : undefined
  })
  const service = await startService({ settings: { READ_MODEL: proxy.address } })
  try {
    const { authorization } = await newSender(service.installation)
    const share = form('/api/v1/share', 'secret=x', authorization)
    await until('a share to be refused', async () => (await service.send(share)).status === 503)
    isMade()
    await until('a share to be taken', async () => (await service.send(share)).status === 200)
    const repeated = asked.slice(MADE).filter((index) => asked.indexOf(index) < MADE)
    assert.equal(repeated, [], 'an index was made twice')
  } finally {
    await service.stop()
    await proxy.stop()
    await server?.drop(address)
  }
})

if (server !== undefined) test.run()
