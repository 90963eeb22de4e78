import { mongoServer } from '../../mongo-server.ts'
import { fillStores } from './copies.ts'
import { FILES, assertMovedAfterKills, killedCopies, MAILS, VAULT } from './steps.ts'

const test = killedCopies('a copy to EventStoreDB and MongoDB that is killed after each step')

test('finally has all data exactly once', async ({ fixture }) => {
  const from = fixture.sqlite('a')
  await fillStores(from, 1_200)
  const to = await fixture.servers(fixture.masterKey(from))
  await assertMovedAfterKills(fixture, from, to, ['target.store.appendMany/2', ...FILES, ...MAILS, ...VAULT])
})

if ((await mongoServer('copies to servers that are killed')) !== undefined) test.run()
