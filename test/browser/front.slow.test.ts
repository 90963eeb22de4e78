import * as assert from 'uvu/assert'
import { newSender } from '../api/harness/secrets.ts'
import { saveScreenshot } from './chromium.ts'
import { DESKTOP_AND_DARK_PHONE, fitsScreen, testOnDevices } from './devices.ts'
import { accessibilityViolations } from './accessibility.ts'

await testOnDevices('the front page', DESKTOP_AND_DARK_PHONE, (test, device) => {
  test('shares a secret and gets the link for its recipient', async ({ service, browser }) => {
    const { email, token } = await newSender(service.installation)
    const { page, messages } = await browser.open()
    await page.goto(service.url)
    assert.equal(await accessibilityViolations(page), [])
    assert.ok(await fitsScreen(page))
    await saveScreenshot(page, `front-${device.name}`)
    await page.getByLabel('The secret').fill('the door opens with 4711')
    await page.getByLabel('Passphrase').fill('open sesame')
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
    await page.getByLabel('Passphrase').fill('open sesame')
    await page.getByRole('button', { name: 'Reveal the secret' }).click()
    await page.waitForSelector('#value')
    assert.is(await page.locator('#value').textContent(), 'the door opens with 4711')
    const own = messages.filter((message) => !message.includes('the server responded with a status of 403'))
    assert.equal(own, [])
    await page.close()
  })
})
