import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { startService, type Service } from '../../api/harness/service.ts'
import { created, list } from '../../api/harness/stones.ts'
import { newPrimary } from '../../mongo-proxy/new-primary.ts'
import { startMongoProxy, type MongoProxy } from '../../mongo-proxy/proxy.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'

const server = await mongoServer('a MongoDB with a new primary')

type Given = {
  proxy: MongoProxy
  primary: ReturnType<typeof newPrimary>
  service: Service
  address: string
  /** Commands on the model's documents since the primary is behind. */
  commands: { finds: number; updates: number }
}
const test = suite<Given>('a service whose MongoDB has a new primary that does not show all acknowledged writes')

test.before.each(async (given) => {
  given.address = server?.newDatabase() ?? ''
  given.proxy = await startMongoProxy(given.address)
  given.primary = newPrimary((collection) => collection.startsWith('diamonds_v'))
  given.commands = { finds: 0, updates: 0 }
  given.proxy.rule((name, body) => {
    if (/^diamonds_v\w+(?<!_counts)$/.test(String(body[name]))) {
      if (name === 'find') given.commands.finds++
      if (name === 'update') given.commands.updates++
    }
    return given.primary.rule(name, body)
  })
  given.service = await startService({ settings: { READ_MODEL: given.proxy.address } })
})
test.after.each(async ({ proxy, service, address }) => {
  proxy.rule()
  await service.stop()
  await proxy.stop()
  await server?.drop(address)
})

/** Queries for the documents of a change when the projection has tried to fold it twice. */
const FINDS_OF_TWO_ATTEMPTS = 6

/** Changes a diamond while the primary is behind, and waits until the read model has the change. */
async function changeWhileBehind({ service: { ann }, primary, commands }: Given, id: unknown): Promise<void> {
  Object.assign(commands, { finds: 0, updates: 0 })
  primary.behind()
  const change = ann.patch(`/v4/diamond/${id}`, { price: 9 })
  await until(
    'the change to be folded or tried twice',
    () => commands.updates > 0 || commands.finds >= FINDS_OF_TWO_ATTEMPTS,
  )
  primary.caughtUp()
  expect(200, await change)
  await until('the list to be current', async () => {
    const response = expect(200, await ann.get('/v4/diamond'))
    return response.headers['x-consistency'] !== 'pending'
  })
}

const listByPublished = (ann: Service['ann'], isPublished: boolean) =>
  ann.get(`/v3/diamond?f[isPublished]=${isPublished}`)

test('loses no change of a diamond and counts it once', async (given) => {
  const { ann } = given.service
  const { id } = await created(ann, { sku: 'STONE' })
  expect(200, await ann.patch(`/v3/diamond/${id}`, { isPublished: true }))
  await changeWhileBehind(given, id)
  assert.is(list(await ann.get('/v4/diamond'))[0]?.['price'], 9)
  assert.is(list(await ann.get('/v3/diamond'))[0]?.['isPublished'], true)
  const [published, unpublished] = [await listByPublished(ann, true), await listByPublished(ann, false)]
  assert.equal([published.headers['x-total-count'], unpublished.headers['x-total-count']], ['1', '0'])
  assert.equal([list(expect(200, published)).length, list(expect(204, unpublished)).length], [1, 0])
})

test('does not park a diamond that the primary does not show', async (given) => {
  const { ann } = given.service
  const { id } = await created(ann, { sku: 'STONE' })
  await changeWhileBehind(given, id)
  assert.is(list(await ann.get('/v4/diamond'))[0]?.['price'], 9)
})

if (server !== undefined) test.run()
