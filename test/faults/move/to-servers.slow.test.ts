import { mongoServer } from '../../mongo-server.ts'
import { fillSite } from './copies.ts'
import { FILES, assertMovedAfterKills, killedCopies, MAILS, VAULT } from './steps.ts'

const test = killedCopies('a copy to EventStoreDB and MongoDB that is killed after each step')

test('finally has all data exactly once', async ({ sites }) => {
  const from = sites.sqlite('a')
  await fillSite(from, 1_200)
  const to = await sites.servers(sites.masterKey(from))
  await assertMovedAfterKills(sites, from, to, ['target.store.appendMany/2', ...FILES, ...MAILS, ...VAULT])
})

if ((await mongoServer('copies to servers that are killed')) !== undefined) test.run()
