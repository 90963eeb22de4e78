import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import type { Vendor } from '../api/harness/account.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { attached } from '../api/harness/form.ts'
import { untilEtag } from '../api/harness/scored.ts'
import { created, ownersLink } from '../api/harness/stones.ts'
import { layoutNamed } from '../fixtures/reports/layouts.ts'
import { onPaper } from '../fixtures/reports/paper.ts'
import { expect } from '../api/harness/request.ts'
import { findBrowser, saveScreenshot, startBrowser, type Browser, type BrowserOptions } from './chromium.ts'
import { fitsScreen } from './devices.ts'
import { accessibilityViolations } from './accessibility.ts'
import { readQrCode } from './qr-code.ts'

const DEVICES: Readonly<Record<string, BrowserOptions>> = { desktop: {}, phone: { width: 360, dark: true } }
const SHAPES = ['Round', 'Emerald', 'Heart']

/** The pages' addresses. All looks share the same stones, because the service takes seconds to draw one. */
type Pages = {
  readonly shapes: ReadonlyMap<string, string>
  readonly measured: string
  readonly long: string
  readonly plain: string
  readonly owners: string
}
type Given = { service: Service; pages: Pages; browsers: Readonly<Record<string, Browser>> }

async function createPages({ url, ann }: Service): Promise<Pages> {
  const pageOf = (id: number) => `${url}/diamond/${id}`
  const shapes = new Map<string, string>()
  for (const cutShape of SHAPES) shapes.set(cutShape, pageOf(await shapedStone(ann, cutShape)))
  const plain = await created(ann, { cutQuality: 'Good', access: 2, dataAccess: 2 })
  const [measured, long] = [pageOf(await measuredStone(ann)), pageOf(await longStone(ann))]
  return { shapes, measured, long, plain: pageOf(plain.id), owners: await ownersPage(ann) }
}

async function shapedStone(ann: Vendor, cutShape: string): Promise<number> {
  const cut = { cutShape, cutQuality: 'Excellent', carat: 1.51, color: 'E', clarity: 'VS1', polish: 'Excellent' }
  const glow = { fluorIntensity: 'Faint', fluorColor: 'Blue' }
  const { id } = await created(ann, { ...cut, ...glow, sku: `SHOW-${cutShape}`, access: 2 })
  await untilEtag(ann, id, '"0.1"')
  return id
}

async function measuredStone(ann: Vendor): Promise<number> {
  const stone = { cutShape: 'Oval', carat: 1.02, color: 'F', clarity: 'VS2', polish: 'Excellent', symmetry: 'Good' }
  const { id } = await created(ann, { ...stone, sku: 'OVAL-7', access: 2, dataAccess: 2 })
  await untilEtag(ann, id, '"0.1"')
  await attached(ann, id, await onPaper(layoutNamed("GIA's of a fancy").lines), '6204815537')
  await untilEtag(ann, id, '"1.2"')
  return id
}

/** With as many and as long proportions as there are, from both sources, and a long name. */
async function longStone(ann: Vendor): Promise<number> {
  const color = { fancyGrade: 'Fancy Intense', colorModifier: 'Brownish Greenish', colorHue: 'Yellow', isColored: true }
  const proportions = { crownAngle: 35.25, crownHeight: 14.25, pavilionAngle: 40.25, pavilionDepth: 42.25 }
  const others = { girdle: 4.55, star: 50, lower: 80 }
  const { id } = await created(ann, {
    ...color,
    sku: 'LONG',
    cutShape: 'Oval',
    carat: 1.02,
    access: 2,
    dataAccess: 2,
    proportions: { ...proportions, ...others },
  })
  await untilEtag(ann, id, '"0.1"')
  await attached(ann, id, await onPaper(layoutNamed("GIA's of a fancy").lines), '6204815537')
  await untilEtag(ann, id, '"1.2"')
  return id
}

/** @returns the address of the owner's page of a stone with a history */
async function ownersPage(ann: Vendor): Promise<string> {
  const { id } = await created(ann, { sku: 'PAST-1', color: 'G', cutQuality: 'Very Good', price: 4000 })
  await untilEtag(ann, id, '"0.1"')
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 3900, color: 'F', clarity: 'VS1' }))
  expect(201, await ann.post('/v4/certification', { product: id, laboratory: 'GIA', number: '2136273512' }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: null }))
  return (await ownersLink(ann, id)).href
}

/** A tab with a page whose images are all loaded. */
async function openPage(browser: Browser, address: string) {
  const tab = await browser.open()
  await tab.page.goto(address)
  await untilImagesLoaded(tab.page)
  return tab
}

const untilImagesLoaded = (page: Page) =>
  page.waitForFunction('[...document.images].every((image) => image.complete && image.naturalWidth > 0)')

type Box = [left: number, right: number, top: number, bottom: number]

const isInside = ([left, right, top, bottom]: readonly number[], [l = 0, r = 0, t = 0, b = 0]: readonly number[]) =>
  Number(left) >= l && Number(right) <= r && Number(top) >= t && Number(bottom) <= b

const overlap = ([l1, r1, t1, b1]: Box, [l2, r2, t2, b2]: Box) => l1 < r2 && l2 < r1 && t1 < b2 && t2 < b1

/** For each picture: whether the text in its place is inside of what is shown of it. */
const SHOWN_PLACEHOLDERS = `[...document.querySelectorAll('.drawn')].map((picture) => {
  const range = document.createRange()
  range.selectNodeContents(picture.querySelector('.drawing'))
  const text = range.getBoundingClientRect()
  return text.width > 0 && text.top + text.height / 2 < picture.getBoundingClientRect().bottom
})`

/** Width and height of the page, at least those of the screen. */
const CONTENT_SIZE = '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]'

const launch = await findBrowser()
if (launch !== undefined) {
  const test = suite<Given>('the report page')
  test.before(async (given) => {
    given.service = await startService({ scored: true })
    given.pages = await createPages(given.service)
    const started = Object.entries(DEVICES).map(async ([device, options]) => [
      device,
      await startBrowser(launch, options),
    ])
    given.browsers = Object.fromEntries(await Promise.all(started)) as Given['browsers']
  })
  // What could not be started is undefined; that error is reported.
  test.after(async ({ service, browsers = {} }: Partial<Given>) => {
    for (const browser of Object.values(browsers)) await browser.close()
    await service?.stop()
  })

  for (const [device, { dark }] of Object.entries(DEVICES)) {
    for (const cutShape of SHAPES) {
      const shape = cutShape.toLowerCase()
      test(`on a ${device}, shows a ${shape} diamond accessibly`, async ({ pages, browsers }) => {
        const browser = browserOf(browsers, device)
        const address = pages.shapes.get(cutShape) ?? ''
        const { page, messages } = await openPage(browser, address)
        assert.equal(await accessibilityViolations(page), [])
        assert.is(await page.locator('svg[role=img]').count(), 5)
        assert.is(await readQrCode(browser, page.locator('.qr')), address)
        assert.ok(await fitsScreen(page))
        assert.equal(messages, [])
        await saveScreenshot(page, `report-${shape}-${device}`)
        await page.close()
      })
    }

    test(`on a ${device}, shows a measured stone with its own figures, on screen and in print`, async (given) => {
      const browser = browserOf(given.browsers, device)
      const { page, messages } = await openPage(browser, given.pages.measured)
      assert.equal(await accessibilityViolations(page), [])
      assert.is(await page.locator('.basis.own').count(), 8)
      assert.is(await page.locator('.profile svg').count(), 1)
      assert.ok(await fitsScreen(page))
      assert.equal(messages, [])
      await saveScreenshot(page, `report-measured-${device}`)
      await page.emulateMedia({ media: 'print', colorScheme: 'light' })
      await saveScreenshot(page, `report-measured-print-${device}`)
      assert.is(await readQrCode(browser, page.locator('.qr')), given.pages.measured)
      const { PDFDocument } = await import('pdf-lib')
      assert.ok((await PDFDocument.load(await page.pdf({ format: 'A4' }))).getPageCount() <= 2)
      await page.close()
    })

    test(`on a ${device}, shows all figures of the side view, on screen and in print`, async ({ pages, browsers }) => {
      const { page } = await openPage(browserOf(browsers, device), pages.long)
      for (const media of ['screen', 'print'] as const) {
        await page.emulateMedia({ media })
        await saveScreenshot(page, `report-long-${media}-${device}`)
        const [drawing = [], ...figures] = await page.evaluate<Box[]>(
          `[...document.querySelectorAll('.profile svg, .profile text')].map((one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect()
            return [left, right, top, bottom]
          })`,
        )
        assert.is(figures.length, 6)
        for (const [index, figure] of figures.entries()) {
          assert.ok(isInside(figure, drawing), `${figure.join()} is cut by ${drawing.join()}`)
          for (const other of figures.slice(index + 1))
            assert.not.ok(overlap(figure, other), `${figure.join()} ${other.join()}`)
        }
      }
      await page.close()
    })

    test(`on a ${device}, says that a picture is being drawn until it is loaded`, async ({ pages, browsers }) => {
      const { page } = await browserOf(browsers, device).open()
      const held = Promise.withResolvers<void>()
      await page.route('**/*.png', async (route) => {
        await held.promise
        await route.continue()
      })
      await page.goto(pages.plain, { waitUntil: 'commit' })
      await page.locator('.drawing').nth(2).waitFor({ state: 'attached' })
      assert.equal(await page.evaluate<boolean[]>(SHOWN_PLACEHOLDERS), [true, true, true])
      held.resolve()
      await page.waitForLoadState()
      assert.equal(await page.evaluate<boolean[]>(SHOWN_PLACEHOLDERS), [false, false, false])
      await page.close()
    })

    test(`on a ${device}, has a widget that fits in its frame`, async ({ pages, browsers }) => {
      const { page, messages } = await browserOf(browsers, device).open()
      await page.setViewportSize({ width: 480, height: 640 })
      for (const [name, address] of [...pages.shapes, ['measured', pages.measured], ['long', pages.long]] as const) {
        await page.goto(`${address}/widget`)
        await untilImagesLoaded(page)
        assert.equal(await accessibilityViolations(page), [], name)
        assert.is(await page.locator('.scale').count(), 4, name)
        await saveScreenshot(page, `widget-${name}-${device}`)
        assert.equal(await page.evaluate(CONTENT_SIZE), [480, 640], name)
        assert.is(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)')
      }
      await page.setViewportSize({ width: 300, height: 640 })
      assert.ok(await fitsScreen(page))
      assert.equal(messages, [])
      await page.close()
    })

    test(`on a ${device}, shows the owner the stone's history accessibly`, async ({ pages, browsers }) => {
      const { page, messages } = await openPage(browserOf(browsers, device), pages.owners)
      assert.equal(await accessibilityViolations(page), [])
      assert.is(await page.locator('.past > li').count(), 5)
      assert.ok(await fitsScreen(page))
      assert.equal(messages, [])
      await saveScreenshot(page, `report-owner-${device}`)
      await page.close()
    })

    test(`prints black on white on at most two pages from a ${device}`, async ({ pages, browsers }) => {
      const { page } = await browserOf(browsers, device).open()
      await page.goto(pages.plain)
      await page.emulateMedia({ media: 'print', colorScheme: dark === true ? 'dark' : 'light' })
      const printed = await page.evaluate<string[]>(
        '[...document.querySelectorAll("body, main, h1, figure")].map((one) => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor].join())',
      )
      const isInk = (colours: string) =>
        /^rgb\(0, 0, 0\),(rgb\(2[45]\d, 2[45]\d, 2[45]\d\)|rgba\(0, 0, 0, 0\))$/.test(colours)
      assert.equal(
        printed.filter((colours) => !isInk(colours)),
        [],
      )
      const { PDFDocument } = await import('pdf-lib')
      const count = (await PDFDocument.load(await page.pdf({ format: 'A4' }))).getPageCount()
      assert.ok(count <= 2, `${count} pages`)
      await page.close()
    })
  }

  test.run()
}

function browserOf(browsers: Given['browsers'], device: string): Browser {
  const browser = browsers[device]
  if (browser === undefined) throw new Error(`no browser was started for ${device}`)
  return browser
}
