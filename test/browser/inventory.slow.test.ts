import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { newOwner } from '../api/inventory-page/browser.ts'
import { expect } from '../api/harness/request.ts'
import { stone } from '../api/harness/stones.ts'
import { saveScreenshot } from './chromium.ts'
import { ALL_DEVICES, fitsScreen, testOnDevices } from './devices.ts'
import { accessibilityViolations } from './accessibility.ts'

const tallestStone = (page: Page): Promise<number> =>
  page
    .locator('tbody tr')
    .evaluateAll((rows) => Math.max(...rows.map((row) => (row as unknown as Box).getBoundingClientRect().height)))

type Box = { getBoundingClientRect(): { height: number } }

const SHAPES = ['Round', 'Pear', 'Emerald', 'Oval']
const COLORS = ['D', 'G', 'J']

/** More than one page. */
const STONES = Array.from({ length: 30 }, (_, number) =>
  stone({
    sku: number === 29 ? `a-very-long-sku-${'x'.repeat(60)}` : `LOT-${number}`,
    cutShape: SHAPES[number % SHAPES.length],
    carat: 0.5 + number / 10,
    color: COLORS[number % COLORS.length],
    clarity: 'VS1',
    cutQuality: 'Excellent',
    price: 1000 * (number + 1),
    access: number % 3,
  }),
)

/** The fields of the open dialog that reach beyond its edge. */
const CUT_FIELDS = `(() => {
  const dialog = document.querySelector('[popover]:popover-open')
  const { left, right } = dialog.getBoundingClientRect()
  const isCut = (field) => field.getBoundingClientRect().right > right || field.getBoundingClientRect().left < left
  return [...dialog.querySelectorAll('input:not([type=hidden]), select, button')].filter(isCut).map(({ name }) => name)
})()`

await testOnDevices('the inventory pages', ALL_DEVICES, (test, device) => {
  test('lead from the log-in to the history of a stone and the log-out', async ({ service, browser }) => {
    const { owner, person } = await newOwner(service)
    expect(201, await owner.post('/v4/diamond/bulk', { entries: STONES }))
    const { page, messages } = await browser.open()
    await page.goto(service.url)
    await page.getByRole('link', { name: 'Your inventory' }).click()
    assert.equal(await accessibilityViolations(page), [])
    await saveScreenshot(page, `inventory-log-in-${device.name}`)

    await page.getByLabel('E-mail address').fill(person.email)
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').waitFor()
    assert.equal(await accessibilityViolations(page), [])
    assert.is(await page.getByLabel('E-mail address').inputValue(), person.email)
    await page.getByLabel('Password').fill(person.password)
    await page.keyboard.press('Enter')

    await page.getByText('Stones 1 to 25 of 30').waitFor()
    assert.is(page.url(), `${service.url}/inventory`)
    assert.equal(await accessibilityViolations(page), [])
    assert.ok(await fitsScreen(page))
    await saveScreenshot(page, `inventory-${device.name}`)
    // A line on a desktop, at most 120 pixels on a phone
    assert.ok((await tallestStone(page)) <= (Number(device.width) < 600 ? 120 : 56))
    await page.emulateMedia({ media: 'print' })
    assert.ok(await page.getByRole('rowheader', { name: 'LOT-28' }).isVisible())
    for (const control of [page.getByRole('searchbox'), page.getByRole('status'), page.getByRole('button').first()])
      assert.not(await control.isVisible())
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('Stones 26 to 30 of 30').waitFor()

    await page.getByText('More filters').click()
    await page.getByLabel('Pear', { exact: true }).check()
    await page.getByLabel('Carat, from').fill('1')
    await page.getByLabel('Order').selectOption('Heaviest first')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('7 stones').waitFor()
    assert.equal(await accessibilityViolations(page), [])
    assert.ok(await fitsScreen(page))
    await saveScreenshot(page, `inventory-filtered-${device.name}`)
    assert.is(await page.getByRole('rowheader').first().textContent(), STONES[29]?.sku)

    await page.getByRole('button', { name: 'Menu of LOT-25' }).press('Enter')
    const menu = page.getByRole('dialog', { name: 'LOT-25' })
    await menu.getByText('Attach a report').press('Enter')
    await menu.getByText('Delete this stone').press('Enter')
    assert.equal(await accessibilityViolations(page), [])
    await saveScreenshot(page, `inventory-edit-${device.name}`)
    assert.equal(await page.evaluate<string[]>(CUT_FIELDS), [])
    await menu.getByLabel('Price').fill('123456.5')
    await page.keyboard.press('Enter')
    await page.getByText('123,456.50').waitFor()
    assert.match(page.url(), /\?.*sort=-carat.*#stone-\d+$/)
    await page.getByText('7 stones').waitFor()

    await page.getByRole('button', { name: 'Menu of LOT-21' }).press('Enter')
    const other = page.getByRole('dialog', { name: 'LOT-21' })
    await other.getByText('Delete this stone').press('Enter')
    await other.getByRole('button', { name: 'Delete LOT-21' }).press('Enter')
    await page.getByText('6 stones').waitFor()

    await page.getByRole('button', { name: 'Menu of LOT-25' }).press('Enter')
    await menu.getByRole('link', { name: 'History of LOT-25' }).press('Enter')
    await page.getByRole('heading', { name: 'History' }).waitFor()
    assert.equal(await accessibilityViolations(page), [])
    await saveScreenshot(page, `inventory-stone-${device.name}`)
    await page.getByRole('link', { name: 'Your inventory' }).click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Password').waitFor()
    await page.goBack()
    await page.reload()
    await page.getByLabel('Password').waitFor()
    assert.equal(
      messages.filter((message) => !message.includes('the server responded with a status of 403')),
      [],
    )
    await page.close()
  })
})
