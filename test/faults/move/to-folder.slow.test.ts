import { fillStores } from './copies.ts'
import { ENDS, FENCE, FILES, assertMovedAfterKills, killedCopies, MAILS, VAULT } from './steps.ts'

const test = killedCopies('a copy to a folder that is killed after each step')

test('finally has all data exactly once', async ({ fixture }) => {
  const [from, to] = [fixture.sqlite('a'), fixture.sqlite('b')]
  // The log is copied in batches of 500 events.
  await fillStores(from, 500)
  await assertMovedAfterKills(fixture, from, to, [
    'target.store.appendMany/1',
    ...FILES,
    ...FENCE,
    ...MAILS,
    ...VAULT,
    ...ENDS,
  ])
})

test.run()
