import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type LaunchOptions, type Page } from 'playwright-core'
import { bundledChromium } from './bundled.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

type Candidate = { readonly name: string; readonly options: () => Promise<LaunchOptions | undefined> }

/** Browsers to try; the first that starts is used. CHROMIUM names the only one to try. */
function candidates(): Candidate[] {
  const named = process.env['CHROMIUM']
  if (named) return [{ name: named, options: async () => ({ executablePath: named }) }]
  return [
    { name: 'the one that npm ci installs', options: bundledOptions },
    { name: 'Chrome', options: async () => ({ channel: 'chrome' }) },
    { name: '/usr/bin/chromium', options: async () => ({ executablePath: '/usr/bin/chromium' }) },
  ]
}

async function bundledOptions(): Promise<LaunchOptions | undefined> {
  const program = await bundledChromium()
  return program && { executablePath: program.path, env: { ...process.env, ...program.env } }
}

/** Launch options of a browser that starts on this machine. Without one, prints what is skipped, and why. */
export async function findBrowser(): Promise<LaunchOptions | undefined> {
  const faults: string[] = []
  for (const { name, options } of candidates()) {
    try {
      const launch = await options()
      if (launch === undefined) faults.push(`${name} is for Linux x64`)
      else return await checkStarts({ ...launch, headless: true, args: FLAGS })
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? error.message.split('\n', 1)[0] : String(error)}`)
    }
  }
  console.log(
    `LEFT OUT: pages in a browser: none starts on this machine (set CHROMIUM to name one): ${faults.join('; ')}`,
  )
  return undefined
}

async function checkStarts(launch: LaunchOptions): Promise<LaunchOptions> {
  const browser = await chromium.launch(launch)
  await browser.close()
  return launch
}

export type Browser = {
  readonly context: BrowserContext
  /** A tab whose console messages and page errors are collected in `messages`. */
  open(): Promise<{ page: Page; messages: string[] }>
  close(): Promise<void>
}

export type BrowserOptions = { readonly width?: number; readonly dark?: boolean; readonly script?: boolean }

/** Milliseconds after which a wait on a page counts as hanging. */
const HANGING = 120_000

/** A browser with a new profile. */
export async function startBrowser(
  launch: LaunchOptions,
  { width = 1100, dark = false, script = true }: BrowserOptions = {},
): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'adamant-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    ...launch,
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
    javaScriptEnabled: script,
    permissions: script ? ['clipboard-read', 'clipboard-write'] : [],
  })
  context.setDefaultTimeout(HANGING)
  return {
    context,
    async open() {
      const page = await context.newPage()
      const messages: string[] = []
      page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`))
      page.on('pageerror', (error) => messages.push(`error: ${error.message}`))
      return { page, messages }
    },
    async close() {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

/** Saves a screenshot for people to look at, if SCREENSHOTS names a folder. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
