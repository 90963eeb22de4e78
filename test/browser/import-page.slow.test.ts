import { readFileSync } from 'node:fs'
import type { Locator } from 'playwright-core'
import * as assert from 'uvu/assert'
import { newOwner } from '../api/inventory-page/browser.ts'
import { smallPdf } from '../api/harness/form.ts'
import { expect } from '../api/harness/request.ts'
import { workbook } from '../cli/import/workbook-file.ts'
import { zipFile } from '../trade-files/zip-file.ts'
import { accessibilityViolations } from './accessibility.ts'
import { saveScreenshot } from './chromium.ts'
import { ALL_DEVICES, fitsScreen, testOnDevices } from './devices.ts'
import { startShop } from './shop.ts'

const HEADER = ['Stock #', 'Shape', 'Weight', 'Color', 'Clarity', 'Price', 'Disc %', 'Lab', 'Report No', 'Table', 'Box']
const reportNumber = (index: number) => 6_200_000_000 + index

/** 300 rows with two wrong cells, and a column for the price that may be the price per carat. */
const ROWS = Array.from({ length: 300 }, (_, index) => [
  `B-${index}`,
  ['Round', 'Oval', 'Pear'][index % 3] ?? '',
  index === 6 ? 'heavy' : 0.5 + index / 100,
  'DEFG'.charAt(index % 4),
  index === 10 ? 'super' : 'VS1',
  1_000 + index,
  -20,
  'GIA',
  reportNumber(index),
  57,
  7,
])

const archive = zipFile([
  { name: 'stock.xlsx', content: await workbook({ Stock: [HEADER, ...ROWS] }) },
  ...Array.from({ length: 20 }, (_, index) => ({
    name: `reports/${reportNumber(index)}.pdf`,
    content: smallPdf(),
  })),
])

/** Presses a button or a choice with the keyboard. */
const press = async (control: Locator, key = 'Enter') => {
  await control.focus()
  await control.press(key)
}

const shop = await startShop()
await testOnDevices(
  'the import page',
  [...ALL_DEVICES, { name: 'desktop-without-scripts', width: 1280, script: false }],
  (test, device) => {
    test('leads by keyboard from the log-in to imported stones, and undoes them', async ({ service, browser }) => {
      const hasScript = device.script !== false
      const { person } = await newOwner(service)
      const { page, messages } = await browser.open()
      /** The page fits the screen and is accessible. */
      const isGood = async (name: string) => {
        if (!hasScript) return
        assert.equal(await accessibilityViolations(page), [], name)
        assert.ok(await fitsScreen(page), name)
        await saveScreenshot(page, `import-${name}-${device.name}`)
      }
      /** Without scripts, the person reloads the page to see the progress. */
      const untilShown = async (text: RegExp) => {
        const shown = page.getByRole('status').filter({ hasText: text })
        if (!hasScript) while (!(await shown.isVisible())) await page.getByRole('link', { name: 'Reload' }).click()
        await shown.waitFor()
      }

      await page.goto(`${service.url}/inventory/import`)
      await page.getByLabel('E-mail address').fill(person.email)
      await page.getByLabel('Password').fill(person.password)
      await page.keyboard.press('Enter')
      const upload = page.getByLabel('File', { exact: true })
      await upload.waitFor()
      await isGood('upload')
      await upload.setInputFiles({ name: 'stock.zip', mimeType: 'application/zip', buffer: archive })
      await press(page.getByRole('button', { name: 'Upload' }))

      await page.getByRole('heading', { name: 'Questions' }).waitFor()
      await isGood('questions')
      await press(page.getByLabel('It is the price of the whole stone'), 'Space')
      await press(page.getByRole('button', { name: 'Ignore the columns without an answer' }))

      await page.getByText('2 lines have 2 errors').waitFor()
      await page.getByRole('rowheader', { name: 'Line 8' }).waitFor()
      await isGood('errors')
      await page.getByLabel('“super” in Clarity, 1 line').selectOption('SI1')
      await press(page.getByLabel('Leave out these 2 lines'), 'Space')
      await press(page.getByRole('button', { name: 'Continue' }))

      const apply = page.getByRole('button', { name: 'Import: create 299 stones' })
      await apply.waitFor()
      await page.getByText('PDFs that belong to a line: 19 of 20').waitFor()
      await isGood('ready')
      await press(apply)
      await untilShown(/^Imported: 299 stones created, 299 reports attached\.$/)
      await isGood('result')

      await press(page.getByRole('link', { name: 'Your inventory' }))
      await page.getByText('Stones 1 to 25 of 299').waitFor()
      await press(page.getByRole('link', { name: 'Export these stones' }))
      await page.getByRole('heading', { name: 'RapNet' }).waitFor()
      await isGood('exports')
      await press(page.getByRole('link', { name: 'Check and download for RapNet' }))
      await page.getByText('The file has 299 stones.').waitFor()
      await isGood('rapnet')
      const download = page.waitForEvent('download')
      await press(page.getByRole('button', { name: 'Download for RapNet' }))
      const file = readFileSync(await (await download).path(), 'utf8')
      assert.is(file.split('\r\n').filter((line) => line.includes(',GIA,62000')).length, 299)

      await press(page.getByRole('link', { name: 'Other formats' }))
      await press(page.getByRole('link', { name: 'Create or delete a feed' }))
      await page.getByLabel('Name').fill('Partner')
      await page.getByLabel('Format').selectOption('RapNet')
      await press(page.getByRole('button', { name: 'Create the feed' }))
      const address = page.getByLabel('Address')
      await address.waitFor()
      const feed = (await address.inputValue()).slice(service.url.length)
      assert.is(expect(200, await service.send({ path: feed })).text, file)
      await press(page.getByText('Delete this feed'))
      await isGood('feeds')
      await press(page.getByRole('button', { name: 'Delete Partner' }))
      await address.waitFor({ state: 'detached' })
      expect(404, await service.send({ path: feed }))

      await press(page.getByRole('link', { name: 'Your inventory' }))
      const menu = page.getByRole('button', { name: 'Menu of B-299' })
      await press(menu)
      await press(page.getByRole('link', { name: 'History of B-299' }))
      const line = page.locator('code').filter({ hasText: '<iframe' })
      await line.waitFor()
      await isGood('stone')
      const site = await browser.open()
      await site.page.goto(shop.pageWith((await line.textContent()) ?? ''))
      const widget = site.page.frameLocator('iframe')
      await widget.getByRole('heading', { name: 'Optical scores' }).waitFor()
      await saveScreenshot(site.page, `import-widget-${device.name}`)
      const report = site.page.context().waitForEvent('page')
      await press(widget.getByRole('link', { name: 'Report with all details' }))
      await (await report).getByRole('heading', { name: 'Certificates' }).waitFor()
      await (await report).close()
      assert.equal(site.messages, [])
      // The same site under a name that is not allowed.
      const refusedFrame = site.page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()))
      await site.page.goto(site.page.url().replace('127.0.0.1', 'localhost'))
      await refusedFrame
      await site.page.close()

      await press(page.getByRole('link', { name: 'Your inventory' }))
      await press(page.getByRole('link', { name: 'Import', exact: true }))
      await page.getByRole('row', { name: /^stock\.zip/ }).waitFor()
      await isGood('list')
      await press(page.getByRole('link', { name: 'stock.zip' }))
      await press(page.getByText('Undo this import'))
      await isGood('undo')
      await press(page.getByRole('button', { name: 'Undo the import' }))
      await untilShown(/^Undone: 299 stones restored\.$/)
      assert.equal(messages, [])
      await page.close()
    })
  },
  { settings: { EMBED_ORIGINS: shop.origin } },
)
