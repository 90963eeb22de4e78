import { randomBytes } from 'node:crypto'
import { mongoServer } from '../../mongo-server.ts'
import { fillStores } from './copies.ts'
import { FILES, assertMovedAfterKills, killedCopies, VAULT } from './steps.ts'

const test = killedCopies('a copy from EventStoreDB and MongoDB that is killed after each step')

test('finally has all data exactly once', async ({ fixture }) => {
  const MASTER_KEY = randomBytes(32).toString('base64')
  const from = await fixture.servers(MASTER_KEY)
  const to = { ...fixture.sqlite('b'), settings: { MASTER_KEY } }
  await fillStores(from, 20)
  await assertMovedAfterKills(fixture, from, to, ['target.store.appendMany/1', ...FILES, ...VAULT])
})

if ((await mongoServer('copies from servers that are killed')) !== undefined) test.run()
