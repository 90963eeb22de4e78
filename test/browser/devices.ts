import type { Page } from 'playwright-core'
import { suite, type Test } from 'uvu'
import { startService, type Overrides, type Service } from '../api/harness/service.ts'
import { findBrowser, startBrowser, type Browser, type BrowserOptions } from './chromium.ts'

export type Device = BrowserOptions & { readonly name: string }

/** A service, and a browser on the device. */
type Given = { service: Service; browser: Browser }

/**
 * Runs the tests on each device; none if no browser starts on this machine.
 * @param subject of the tests: `the front page`
 * @param overrides of the service
 */
export async function testOnDevices(
  subject: string,
  devices: readonly Device[],
  define: (test: Test<Given>, device: Device) => void,
  overrides: Overrides = {},
): Promise<void> {
  const launch = await findBrowser()
  if (launch === undefined) return
  for (const device of devices) {
    const test = suite<Given>(`${subject} on a ${device.name}`)
    test.before(async (given) => {
      given.service = await startService(overrides)
      given.browser = await startBrowser(launch, device)
    })
    test.after(async ({ service, browser }) => {
      await browser.close()
      await service.stop()
    })
    define(test, device)
    test.run()
  }
}

export const DESKTOP_AND_DARK_PHONE: readonly Device[] = [
  { name: 'desktop' },
  { name: 'phone', width: 390, dark: true },
]

/** A desktop and a phone, both light and dark. */
export const ALL_DEVICES: readonly Device[] = [
  { name: 'desktop', width: 1280 },
  { name: 'desktop-dark', width: 1280, dark: true },
  { name: 'phone', width: 390 },
  { name: 'phone-dark', width: 390, dark: true },
]

/** Whether nothing is wider than the screen. */
export const fitsScreen = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')
