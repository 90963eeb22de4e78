import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { startService, type Service } from '../api/harness/service.ts'
import { attached } from '../api/harness/form.ts'
import { untilEtag } from '../api/harness/scored.ts'
import { created } from '../api/harness/stones.ts'
import { layoutNamed } from '../fixtures/reports/layouts.ts'
import { onPaper } from '../fixtures/reports/paper.ts'
import { expect } from '../api/harness/request.ts'
import { findBrowser, picture, startBrowser, type Browser } from './chromium.ts'
import { findings } from './findings.ts'
import { seenQr } from './seen-qr.ts'

type Given = { service: Service; browser: Browser }

/** Milliseconds within which a stone must be scored. */
const DEADLINE = 30_000

const launch = await findBrowser()
if (launch !== undefined) {
  for (const look of [{ name: 'desktop' }, { name: 'phone', width: 360, dark: true }]) {
    const test = suite<Given>(`the report page, on a ${look.name},`)
    test.before(async (given) => {
      given.service = await startService({ scored: true })
      given.browser = await startBrowser(launch, look)
    })
    test.after(async ({ service, browser }) => {
      await browser.close()
      await service.stop()
    })

    for (const cutShape of ['Round', 'Emerald', 'Heart']) {
      test(`shows a ${cutShape.toLowerCase()} to everybody's eyes and ears`, async ({ service, browser }) => {
        const cut = { cutShape, cutQuality: 'Excellent', carat: 1.51, color: 'E', clarity: 'VS1', polish: 'Excellent' }
        const glow = { fluorIntensity: 'Faint', fluorColor: 'Blue' }
        const { id } = await created(service.ann, { ...cut, ...glow, sku: `SHOW-${cutShape}`, access: 2 })
        const ends = Date.now() + DEADLINE
        while (expect(200, await service.ann.get(`/v4/diamond/${id}`)).headers.etag !== '"0.1"') {
          assert.ok(Date.now() < ends, 'it was not scored')
        }
        const { page, said } = await browser.open()
        await page.goto(`${service.url}/diamond/${id}`)
        await page.waitForFunction('[...document.images].every((image) => image.complete && image.naturalWidth > 0)')
        assert.equal(await findings(page), [])
        assert.is(await page.locator('svg[role=img]').count(), 5)
        assert.is(await seenQr(browser, page.locator('.qr')), `${service.url}/diamond/${id}`)
        assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
        assert.equal(said, [])
        await picture(page, `report-${cutShape.toLowerCase()}-${look.name}`)
        await page.close()
      })
    }

    test('shows a measured stone with its own figures, on the screen and on paper', async ({ service, browser }) => {
      const stone = { cutShape: 'Oval', carat: 1.02, color: 'F', clarity: 'VS2', polish: 'Excellent', symmetry: 'Good' }
      const { id } = await created(service.ann, { ...stone, sku: 'OVAL-7', access: 2, dataAccess: 2 })
      await untilEtag(service.ann, id, '"0.1"')
      await attached(service.ann, id, await onPaper(layoutNamed("GIA's of a fancy").lines), '6204815537')
      await untilEtag(service.ann, id, '"1.2"')
      const { page, said } = await browser.open()
      await page.goto(`${service.url}/diamond/${id}`)
      await page.waitForFunction('[...document.images].every((image) => image.complete && image.naturalWidth > 0)')
      assert.equal(await findings(page), [])
      assert.is(await page.locator('.basis.own').count(), 6)
      assert.is(await page.locator('.profile svg').count(), 1)
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
      assert.equal(said, [])
      await picture(page, `report-measured-${look.name}`)
      await page.emulateMedia({ media: 'print', colorScheme: 'light' })
      await picture(page, `report-measured-print-${look.name}`)
      assert.is(await seenQr(browser, page.locator('.qr')), `${service.url}/diamond/${id}`)
      const { PDFDocument } = await import('pdf-lib')
      assert.ok((await PDFDocument.load(await page.pdf({ format: 'A4' }))).getPageCount() <= 2)
      await page.close()
    })

    test('shows its owner what happened to the stone, to eyes and ears', async ({ service, browser }) => {
      const { ann } = service
      const { id } = await created(ann, { sku: 'PAST-1', color: 'G', cutQuality: 'Very Good', price: 4000 })
      const ends = Date.now() + DEADLINE
      while (expect(200, await ann.get(`/v4/diamond/${id}`)).headers.etag !== '"0.1"') {
        assert.ok(Date.now() < ends, 'it was not scored')
      }
      expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 3900, color: 'F', clarity: 'VS1' }))
      expect(201, await ann.post('/v4/certification', { product: id, laboratory: 'GIA', number: '2136273512' }))
      expect(200, await ann.patch(`/v4/diamond/${id}`, { price: null }))
      const { headers } = expect(200, await ann.get(`/v4/diamond/${id}/history`))
      const [, address = ''] = /<([^<>]+)>; rel="alternate"/.exec(String(headers.link)) ?? []
      const { page, said } = await browser.open()
      await page.goto(address)
      await page.waitForFunction('[...document.images].every((image) => image.complete && image.naturalWidth > 0)')
      assert.equal(await findings(page), [])
      assert.is(await page.locator('.past > li').count(), 5)
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'))
      assert.equal(said, [])
      await picture(page, `report-owner-${look.name}`)
      await page.close()
    })

    test('prints black on white on two pages at most, whatever the screen is like', async ({ service, browser }) => {
      const { id } = await created(service.ann, { cutQuality: 'Good', access: 2, dataAccess: 2 })
      const { page } = await browser.open()
      await page.goto(`${service.url}/diamond/${id}`)
      await page.emulateMedia({ media: 'print', colorScheme: look.dark === true ? 'dark' : 'light' })
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
      const pages = (await PDFDocument.load(await page.pdf({ format: 'A4' }))).getPageCount()
      assert.ok(pages <= 2, `${pages} pages`)
      await page.close()
    })

    test.run()
  }
}
