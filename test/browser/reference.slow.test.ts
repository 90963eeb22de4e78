import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { created } from '../api/harness/stones.ts'
import { accessibilityViolations } from './accessibility.ts'
import { saveScreenshot } from './chromium.ts'
import { DESKTOP_AND_DARK_PHONE, fitsScreen, testOnDevices } from './devices.ts'

/** Resolves when the reference is rendered. */
async function openReference(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/docs`)
  await page.waitForSelector('#operations-Inventory-readDiamond')
}

await testOnDevices('the API reference', DESKTOP_AND_DARK_PHONE, (test, device) => {
  test('renders without requests to other hosts', async ({ service, browser }) => {
    const { page, messages } = await browser.open()
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    await openReference(page, service.url)
    assert.equal(
      requested.filter((address) => !address.startsWith(service.url) && !address.startsWith('data:')),
      [],
    )
    assert.equal(messages, [])
    const background = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    assert.is(/^rgb\(\d\d, \d\d, \d\d\)$/.test(String(background)), device.dark === true, String(background))
    assert.ok(await fitsScreen(page))
    await saveScreenshot(page, `reference-${device.name}`)
    await page.close()
  })

  test('sends a trial request with the entered token', async ({ service, browser }) => {
    const { id } = await created(service.ann, { sku: 'TRIED' })
    const { page, messages } = await browser.open()
    await openReference(page, service.url)
    await page.click('.btn.authorize')
    await page.fill('.modal-ux input', service.ann.token)
    await page.click('.modal-ux .btn.authorize')
    await page.click('.modal-ux .btn-done')
    await page.click('#operations-Inventory-readDiamond .opblock-summary')
    await page.fill('#operations-Inventory-readDiamond input', String(id))
    await page.click('#operations-Inventory-readDiamond .execute')
    const response = await page.waitForSelector('#operations-Inventory-readDiamond .live-responses-table .response')
    const text = (await response.textContent()) ?? ''
    assert.match(text, /^200/)
    assert.match(text, /TRIED/)
    assert.equal(messages, [])
    await page.close()
  })

  test('keeps the token when it is loaded again, and creates the stone of its example', async ({
    service,
    browser,
  }) => {
    const { page, messages } = await browser.open()
    await openReference(page, service.url)
    await page.click('.btn.authorize')
    assert.match((await page.textContent('.modal-ux .auth-container')) ?? '', 'bearer')
    await page.fill('.modal-ux input', service.ann.token)
    await page.click('.modal-ux .btn.authorize')
    await page.reload()
    await page.click('#operations-Inventory-createDiamond .opblock-summary')
    await page.click('#operations-Inventory-createDiamond .execute')
    const response = await page.waitForSelector('#operations-Inventory-createDiamond .live-responses-table .response')
    assert.match((await response.textContent()) ?? '', /^201/)
    assert.equal(await accessibilityViolations(page, 'critical'), [])
    assert.equal(messages, [])
    await saveScreenshot(page, `reference-example-${device.name}`)
    await page.close()
  })
})
