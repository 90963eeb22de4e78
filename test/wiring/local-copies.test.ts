import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { removeAbandonedCopies } from '../../src/wiring/local-copies.ts'
import { withFolder } from '../temporary-folder.ts'

const test = suite('copies of stock lists')

const DAY_S = 24 * 3_600
const NOW_S = 1_800_000_000

test('that killed processes left behind are removed after a day, and nothing else', () =>
  withFolder(async (folder) => {
    const ages = { 'adamant-import-old': DAY_S + 60, 'adamant-import-new': DAY_S - 60, 'adamant-demo-old': 2 * DAY_S }
    for (const [name, age] of Object.entries(ages)) {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'stock-list'), 'sku')
      utimesSync(join(folder, name), NOW_S - age, NOW_S - age)
    }
    await removeAbandonedCopies(folder, NOW_S * 1_000)
    assert.equal(readdirSync(folder).toSorted(), ['adamant-demo-old', 'adamant-import-new'])
  }))

test.run()
