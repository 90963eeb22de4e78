import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groupIntoCells } from '../../src/domain/certification/page-cells.ts'
import { parseReport } from '../../src/domain/certification/report-parser.ts'
import { extractTextRuns } from '../../src/reports/pdf-text.ts'
import { layouts, nothingRead } from '../fixtures/reports/layouts.ts'
import { laidOut, PAGE_LAYOUTS } from '../fixtures/reports/pages.ts'
import { STORAGES, storedPage } from '../fixtures/reports/stored-pages.ts'

const test = suite('the text of a PDF')

const pageLayouts = Object.values(PAGE_LAYOUTS)

for (const [index, [storageName, storage]] of Object.entries(STORAGES).entries()) {
  test(`gives the same reading of every laboratory's report, stored ${storageName}`, async () => {
    for (const [at, { name, lines, expected }] of layouts.entries()) {
      const layout = pageLayouts[(index + at) % pageLayouts.length]
      if (layout === undefined) throw new Error('no page layouts')
      const pages = await extractTextRuns(new Uint8Array(await storedPage(laidOut(lines, layout), storage)))
      assert.equal(parseReport(pages.map(groupIntoCells)), { ...nothingRead, ...expected }, name)
    }
  })
}

test.run()
