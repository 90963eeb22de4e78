import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'

/** Debian's; another one by CHROMIUM in the environment. */
const PROGRAM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** False, and says so, where no browser is installed. */
export function hasChromium(): boolean {
  if (existsSync(PROGRAM)) return true
  console.log(`NOTE: pages were not driven, since there is no ${PROGRAM}: apt-get install chromium`)
  return false
}

export type Browser = {
  readonly context: BrowserContext
  /** A tab whose console messages and page errors are collected in `said`. */
  open(): Promise<{ page: Page; said: string[] }>
  close(): Promise<void>
}

export type BrowserOptions = { readonly width?: number; readonly dark?: boolean; readonly script?: boolean }

/** A browser with a new profile. */
export async function startChromium({
  width = 1100,
  dark = false,
  script = true,
}: BrowserOptions = {}): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'adamant-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: PROGRAM,
    headless: true,
    args: FLAGS,
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
    javaScriptEnabled: script,
    permissions: script ? ['clipboard-read', 'clipboard-write'] : [],
  })
  return {
    context,
    async open() {
      const page = await context.newPage()
      const said: string[] = []
      page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`))
      page.on('pageerror', (error) => said.push(`error: ${error.message}`))
      return { page, said }
    },
    async close() {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

/** Keeps a picture where SCREENSHOTS says, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
