import { suite } from 'uvu'
import { setTimeout as pause } from 'node:timers/promises'
import { form, newSender } from '../../api/harness/secrets.ts'
import { startService } from '../../api/harness/service.ts'
import { startMongoProxy } from '../../mongo-proxy/proxy.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'

const server = await mongoServer('a MongoDB that is slow to make indexes')
const test = suite('a service whose MongoDB is slow to make indexes')

/** Milliseconds for one of the vault's nine indexes: together more than one call may take. */
const ONE = 700

test('is there for secrets as soon as all of them are made', async () => {
  const address = server?.newDatabase() ?? ''
  const proxy = await startMongoProxy(address)
  proxy.rule((name, body) =>
    name === 'createIndexes' && String(body[name]).startsWith('vault_') ? { until: pause(ONE) } : undefined,
  )
  const service = await startService({ settings: { READ_MODEL: proxy.address } })
  try {
    const { authorization } = await newSender(service.installation)
    const share = form('/api/v1/share', 'secret=x', authorization)
    await until('a share to be taken', async () => (await service.send(share)).status === 200)
  } finally {
    await service.stop()
    await proxy.stop()
    await server?.drop(address)
  }
})

if (server !== undefined) test.run()
