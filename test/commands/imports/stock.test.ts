import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import { createDiamonds } from '../../../src/commands/diamonds/diamonds.ts'
import { readStock } from '../../../src/commands/imports/stock.ts'
import { withBulkIds } from '../../../src/commands/imports/write-bulks.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'
import { unexpected } from './unexpected.ts'
import { fixedClock } from '../../fixed-clock.ts'

const origin = { actor: 'account-1', via: 'http', correlation: 'r-1' } as const

const test = suite('the stock of an account')

test("has its stones by sku and their custom cut shapes, and no other account's", async () => {
  const store = temporaryLog()
  try {
    const context = createCommandContext(store, fixedClock)
    for (const [owner, sku, cutShape] of [
      [1, 'A', 'Rund'],
      [2, 'B', 'Runde'],
    ] as const) {
      const principal = { owner, origin }
      await createDiamonds(withBulkIds(context, principal), { ...principal, entries: [{ sku, cutShape, carat: 1 }] })
    }
    const stock = await readStock(store, 1, unexpected)
    assert.equal([...stock.skus.values()], ['A'])
    assert.equal(stock.bySku('A'), [...stock.skus.keys()])
    assert.equal(stock.bySku('B'), [])
    assert.equal([...stock.customShapes], ['Rund'])
  } finally {
    await store.close()
  }
})

test.run()
