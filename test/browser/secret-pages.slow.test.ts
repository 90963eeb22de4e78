import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { startService, type Service } from '../api/harness/service.ts'
import { newSender, post, shared, shownIn, type Sender } from '../api/harness/secrets.ts'
import { findBrowser, saveScreenshot, startBrowser, type Browser } from './chromium.ts'
import { fitsScreen } from './devices.ts'
import { accessibilityViolations } from './accessibility.ts'

type Given = { service: Service; url: string; ann: Sender; browser: Browser }

/** Without the messages that a browser logs for each 404. */
const ownMessages = (messages: readonly string[]) =>
  messages.filter(
    (message) => !message.startsWith('error: Failed to load resource: the server responded with a status of 404'),
  )

const text = (page: Page, selector: string) => page.locator(selector).textContent()

const launch = await findBrowser()
if (launch !== undefined) {
  for (const device of [{ name: 'desktop' }, { name: 'phone', width: 360, dark: true }]) {
    const test = suite<Given>(`the pages of a secret on a ${device.name}`)
    test.before(async (given) => {
      given.service = await startService()
      given.url = given.service.url
      given.ann = await newSender(given.service.installation)
      given.browser = await startBrowser(launch, device)
    })
    test.after(async ({ service, browser }) => {
      await browser.close()
      await service.stop()
    })

    const VALUE = '\n  Zugang: "tür" & <b>fenster</b>\n\r\n\t🔑 ключ\n'

    test('reveal it once, after a click, with a button to copy it', async ({ url, ann, browser }) => {
      const { secret_key, metadata_key } = await shared(url, ann, { secret: VALUE })
      const { page, messages } = await browser.open()
      await page.goto(`${url}/secret/${secret_key}`)
      assert.equal(await accessibilityViolations(page), [])
      await saveScreenshot(page, `${device.name}-ask`)
      await page.reload()
      assert.is(shownIn(await post(url, `private/${metadata_key}`)).state, 'new')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.waitForSelector('#value')
      assert.is(await text(page, '#value'), VALUE)
      await page.getByRole('button', { name: 'Copy the secret' }).click()
      await page.getByText('Copied.').waitFor()
      assert.is(await page.evaluate('navigator.clipboard.readText()'), VALUE)
      const [home] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('link', { name: 'Adamant' }).click(),
      ])
      await home.getByRole('heading', { name: 'Adamant' }).waitFor()
      await home.close()
      assert.is(await text(page, '#value'), VALUE, 'the way home must not close the only view of the secret')
      assert.equal(await accessibilityViolations(page), [])
      await saveScreenshot(page, `${device.name}-secret`)
      assert.equal(ownMessages(messages), [])
      await page.goto(`${url}/secret/${secret_key}`)
      assert.is(await text(page, 'h1'), 'Secret not found')
      assert.equal(await accessibilityViolations(page), [])
      await saveScreenshot(page, `${device.name}-gone`)
      assert.equal(ownMessages(messages), [])
      await page.close()
    })

    test('ask for the passphrase and report a wrong one', async ({ url, ann, browser }) => {
      const { secret_key } = await shared(url, ann, { secret: 'x', passphrase: 'sésame & co' })
      const { page, messages } = await browser.open()
      await page.goto(`${url}/secret/${secret_key}`)
      await page.getByLabel('Passphrase').fill('wrong')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
      assert.equal(await accessibilityViolations(page), [])
      await saveScreenshot(page, `${device.name}-passphrase`)
      await page.getByLabel('Passphrase').fill('sésame & co')
      await page.getByRole('button', { name: 'Reveal the secret' }).click()
      await page.waitForSelector('#value')
      assert.is(await text(page, '#value'), 'x')
      assert.equal(ownMessages(messages), [])
      await page.close()
    })

    test('show its state to the sender, who can burn it', async ({ url, ann, browser }) => {
      const given = { secret: 'x', recipient: 'tom@example.com', passphrase: 'p' }
      const { metadata_key, secret_key } = await shared(url, ann, given)
      const { page, messages } = await browser.open()
      await page.goto(`${url}/private/${metadata_key}`)
      assert.is(await text(page, '#value'), `${url}/secret/${secret_key}`)
      assert.equal(await accessibilityViolations(page), [])
      await saveScreenshot(page, `${device.name}-sender`)
      await page.getByText('Burn this secret').click()
      await page.getByLabel('Passphrase').fill('wrong')
      await page.getByRole('button', { name: 'Burn the secret' }).click()
      await page.getByRole('alert').waitFor()
      assert.equal(await accessibilityViolations(page), [])
      await page.getByLabel('Passphrase').fill('p')
      await page.getByRole('button', { name: 'Burn the secret' }).click()
      await page.getByText('Your secret was burned').first().waitFor()
      assert.is(page.url(), `${url}/private/${metadata_key}`)
      assert.equal(await accessibilityViolations(page), [])
      await saveScreenshot(page, `${device.name}-burned`)
      assert.equal(ownMessages(messages), [])
      await page.close()
    })

    test('fit the screen without horizontal scrolling', async ({ url, ann, browser }) => {
      const { secret_key } = await shared(url, ann, { secret: 'x'.repeat(900) })
      const { page } = await browser.open()
      await page.goto(`${url}/secret/${secret_key}`)
      await page.getByRole('button').click()
      await page.waitForSelector('#value')
      assert.ok(await fitsScreen(page))
      await page.close()
    })

    test.run()
  }

  const plain = suite<Given>('the pages of a secret without JavaScript')
  plain.before(async (given) => {
    given.service = await startService()
    given.url = given.service.url
    given.ann = await newSender(given.service.installation)
    given.browser = await startBrowser(launch, { script: false })
  })
  plain.after(async ({ service, browser }) => {
    await browser.close()
    await service.stop()
  })

  plain('show it, without a button that needs JavaScript', async ({ url, ann, browser }) => {
    const { secret_key } = await shared(url, ann, { secret: 'x' })
    const { page } = await browser.open()
    await page.goto(`${url}/secret/${secret_key}`)
    await page.getByRole('button', { name: 'Reveal the secret' }).click()
    await page.waitForSelector('#value')
    assert.is(await text(page, '#value'), 'x')
    assert.is(await page.getByRole('button').count(), 0)
  })

  plain('burn it', async ({ url, ann, browser }) => {
    const { metadata_key } = await shared(url, ann, { secret: 'x' })
    const { page } = await browser.open()
    await page.goto(`${url}/private/${metadata_key}/burn`)
    await page.getByRole('button', { name: 'Burn the secret' }).click()
    await page.getByText('Your secret was burned').first().waitFor()
    assert.is(shownIn(await post(url, `private/${metadata_key}`)).state, 'burned')
  })

  plain.run()
}
