import { filledSite } from './copies.ts'
import { ENDS, FENCE, FILES, isMovedInTheEnd, killedCopies, MAILS, VAULT } from './steps.ts'

const test = killedCopies('a copy to a folder that is killed at each of its steps in turn')

test('has everything once in the end', async ({ sites }) => {
  const [from, to] = [sites.sqlite('a'), sites.sqlite('b')]
  // The log is written 500 events at a time.
  await filledSite(from, 500)
  await isMovedInTheEnd(sites, from, to, ['target.store.appendMany/1', ...FILES, ...FENCE, ...MAILS, ...VAULT, ...ENDS])
})

test.run()
