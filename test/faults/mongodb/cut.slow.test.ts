import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newSender, form } from '../../api/harness/secrets.ts'
import { expect } from '../../api/harness/request.ts'
import { startService, type Service } from '../../api/harness/service.ts'
import { startMongoProxy, type CommandFault, type MongoProxy } from '../../mongo-proxy/proxy.ts'
import { firstCommands, errorResponse } from '../../mongo-proxy/rules.ts'
import { mongoServer } from '../../mongo-server.ts'

const server = await mongoServer('broken connections to MongoDB')

type Given = { proxy: MongoProxy; service: Service; address: string }
const test = suite<Given>('a service whose connection to MongoDB breaks')

test.before(async (given) => {
  given.address = server?.newDatabase() ?? ''
  given.proxy = await startMongoProxy(given.address)
  given.service = await startService({ settings: { READ_MODEL: given.proxy.address } })
})
test.after(async ({ proxy, service, address }) => {
  proxy.rule()
  await service.stop()
  await proxy.stop()
  await server?.drop(address)
})

const FAULTS: readonly (readonly [what: string, fault: CommandFault])[] = [
  ['the connection breaks before', { cut: 'before' }],
  ['the connection breaks after', { cut: 'after' }],
  ['an election rejects', { response: errorResponse(10107, 'NotWritablePrimary') }],
  ['an election interrupts', { response: errorResponse(11602, 'InterruptedDueToReplStateChange') }],
  ['a timeout interrupts', { response: errorResponse(11601, 'Interrupted') }],
]

for (const [description, fault] of FAULTS) {
  for (const collection of ['vault_entries', 'vault_receipts', 'vault_mails']) {
    test(`rejects a share with 503 if ${description} the insert into ${collection}, and accepts the next`, async ({
      proxy,
      service,
    }) => {
      const { authorization } = await newSender(service.installation)
      const share = form('/api/v1/share', 'secret=x&recipient=jane@example.com', authorization)
      proxy.rule(firstCommands('insert', collection, fault))
      const refused = expect(503, await service.send(share))
      proxy.rule()
      assert.match(String(refused.headers['retry-after']), /^\d+$/)
      expect(200, await service.send(share))
    })
  }
}

if (server !== undefined) test.run()
