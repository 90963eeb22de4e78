import * as assert from 'uvu/assert'
import { pathOf } from '../harness/form.ts'
import { expect } from '../harness/request.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS, startService } from '../harness/service.ts'
import { created, ownersLink } from '../harness/stones.ts'

const SHOPS = 'https://shop.example.com, https://other.example'

const test = apiSuite('the widget of a diamond', { settings: { EMBED_ORIGINS: SHOPS } })

/** The sites that may show a page in a frame. */
const framedBy = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  /frame-ancestors ([^;]*)/.exec(String(headers['content-security-policy']))?.[1]

const FIELDS = {
  sku: 'W-1',
  carat: 1.2,
  cutShape: 'Round',
  color: 'D',
  cutQuality: 'Excellent',
  proportions: { table: 57, crownAngle: 34.5 },
} as const

test('shows the picture, the proportions and a link to the report page', async ({ service, ann }) => {
  const { id } = await created(ann, { ...FIELDS, access: 2, dataAccess: 2 })
  const page = expect(200, await service.send({ path: `/diamond/${id}/widget` }))
  assert.match(page.text, /<h1>1\.20 ct Round diamond<\/h1>/)
  assert.match(page.text, new RegExp(`src="\\.\\./\\.\\./diamond/${id}/face-up\\.png"`))
  assert.match(page.text, /<dt>Table<\/dt>\s*<dd>57 %<\/dd>/)
  assert.match(page.text, /The scores are being computed/)
  assert.match(page.text, new RegExp(`<a href="\\.\\./\\.\\./diamond/${id}" target="_blank" rel="noopener">`))
  assert.is(page.headers['x-robots-tag'], 'noindex')
  assert.is(page.headers['cache-control'], 'private, no-cache')
})

test('hides proportions as the report page does, and shows what else is known', async ({ service, ann }) => {
  const { id } = await created(ann, { ...FIELDS, access: 2, dataAccess: 0 })
  const { text } = expect(200, await service.send({ path: `/diamond/${id}/widget` }))
  assert.not.match(text, /57 %/)
  assert.match(text, /<dt>Colour<\/dt>\s*<dd>D<\/dd>/)
})

test('has no picture and no scores of a shape without an optical model', async ({ service, ann }) => {
  const { id } = await created(ann, { cutShape: 'Tree of Life', access: 2 })
  const { text } = expect(200, await service.send({ path: `/diamond/${id}/widget` }))
  assert.not.match(text, /<img/)
})

test('of a restricted diamond opens with the signature of its report page only', async ({ service, ann }) => {
  const stone = await created(ann, { ...FIELDS, access: 0 })
  const { _links } = expect(200, await ann.get(`/v4/diamond/${stone.id}`)).json() as { _links: { href: string }[] }
  const widget = pathOf(_links[0]?.href ?? null).replace('?', '/widget?')
  const { text, headers } = expect(200, await service.send({ path: widget }))
  assert.is(headers['cache-control'], 'no-store')
  const [, picture = ''] = /<img src="\.\.\/\.\.(\/[^"]*)"/.exec(text) ?? []
  expect(200, await service.send({ path: picture }))
  expect(404, await service.send({ path: `/diamond/${stone.id}/widget` }))
  expect(400, await service.send({ path: `${widget}&signature=x` }))
  expect(200, await ann.patch(`/v4/diamond/${stone.id}`, { access: 1 }))
  expect(200, await ann.patch(`/v4/diamond/${stone.id}`, { access: 0 }))
  const ended = expect(404, await service.send({ path: widget }))
  assert.match(ended.text, /This stone is not available/)
  assert.is(framedBy(ended), SHOPS.replace(',', ''))
})

test('may be framed by the allowed sites alone, other pages by none', async ({ service, ann }) => {
  const { id } = await created(ann, { access: 2 })
  const sites = async (one: typeof service, path: string) => framedBy(await one.send({ path }))
  assert.is(await sites(service, `/diamond/${id}/widget`), 'https://shop.example.com https://other.example')
  assert.is(await sites(service, `/diamond/${id}`), "'none'")
  assert.is(await sites(service, '/diamond/999999/widget'), 'https://shop.example.com https://other.example')
  for (const [origins, expected] of [
    ['', "'none'"],
    ['*', '*'],
  ] as const) {
    const other = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings: { EMBED_ORIGINS: origins } })
    try {
      const stone = await created(other.ann, { access: 2 })
      assert.is(await sites(other, `/diamond/${stone.id}/widget`), expected)
      assert.is(await sites(other, '/inventory'), "'none'")
    } finally {
      await other.stop()
    }
  }
})

test("has its line of HTML on the owner's page", async ({ service, ann }) => {
  for (const access of [0, 2]) {
    const { id } = await created(ann, { ...FIELDS, access })
    const { pathname, search } = await ownersLink(ann, id)
    const { text } = expect(200, await service.send({ path: pathname + search }))
    const [, line = ''] = /<code>(&lt;iframe .*?)<\/code>/.exec(text) ?? []
    const [, widget = ''] = /src=&quot;(.*?)&quot; width=&quot;480&quot; height=&quot;640&quot;/.exec(line) ?? []
    expect(200, await service.send({ path: pathOf(widget) }))
    assert.is(widget.includes('?signature='), access === 0)
  }
})

test.run()
