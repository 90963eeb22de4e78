import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { newSender } from '../api/harness/secrets.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { findBrowser, saveScreenshot, startBrowser, type Browser } from './chromium.ts'
import { accessibilityViolations } from './accessibility.ts'

type Given = { service: Service; browser: Browser }

const launch = await findBrowser()
if (launch !== undefined) {
  for (const device of [{ name: 'desktop' }, { name: 'phone', width: 390, dark: true }]) {
    const test = suite<Given>(`the front page on a ${device.name}`)
    test.before(async (given) => {
      given.service = await startService()
      given.browser = await startBrowser(launch, device)
    })
    test.after(async ({ service, browser }) => {
      await browser.close()
      await service.stop()
    })

    test('shares a secret and gets the link for its recipient', async ({ service, browser }) => {
      const { email, token } = await newSender(service.installation)
      const { page, messages } = await browser.open()
      await page.goto(service.url)
      assert.equal(await accessibilityViolations(page), [])
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
      await saveScreenshot(page, `front-${device.name}`)
      await page.getByLabel('The secret').fill('the door opens with 4711')
      await page.getByLabel('Expires after').selectOption('an hour')
      await page.getByLabel('Your e-mail address').fill(email)
      await page.getByLabel('Your API token').fill('wrong')
      await page.getByRole('button').click()
      await page.getByRole('alert').waitFor()
      assert.equal(await accessibilityViolations(page), [])
      await saveScreenshot(page, `front-refused-${device.name}`)
      assert.is(await page.getByLabel('The secret').inputValue(), 'the door opens with 4711')
      await page.getByLabel('Your API token').fill(token)
      await page.getByRole('button').click()
      await page.waitForSelector('#value')
      const link = (await page.locator('#value').textContent()) ?? ''
      await page.goto(link)
      await page.getByRole('button', { name: 'Reveal the secret' }).click()
      await page.waitForSelector('#value')
      assert.is(await page.locator('#value').textContent(), 'the door opens with 4711')
      const own = messages.filter((message) => !message.includes('the server responded with a status of 403'))
      assert.equal(own, [])
      await page.close()
    })

    test.run()
  }
}
