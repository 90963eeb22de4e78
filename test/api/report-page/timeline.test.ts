import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import type { Vendor } from '../harness/account.ts'
import { expect, refusal, type ApiResponse } from '../harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'
import { created, ownersLink } from '../harness/stones.ts'

type Given = { service: Service; ann: Vendor; bob: Vendor; time: { now: number } }
const test = suite<Given>("the owner's report page")
test.before(async (given) => {
  const time = { now: Date.now() }
  given.time = time
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => time.now })
  given.ann = given.service.ann
  given.bob = given.service.bob
})
test.after(({ service }) => service.stop())

const open = (service: Service, { pathname, search }: URL): Promise<ApiResponse> =>
  service.send({ path: pathname + search })

/** The link to the page for buyers. */
const buyersLink = (stone: Readonly<Record<string, unknown>>) =>
  new URL((stone['_links'] as readonly { readonly href: string }[])[0]?.href ?? '')

for (const access of [0, 1, 2]) {
  test(`shows the history of a stone with access ${access}, which the page for others hides`, async (given) => {
    const { service, ann } = given
    const stone = await created(ann, { access, sku: '<b>bold</b>', price: 4321, cutQuality: 'Good' })
    expect(200, await ann.patch(`/v4/diamond/${stone.id}`, { color: 'F', price: 1234 }))
    const page = expect(200, await open(service, await ownersLink(ann, stone.id)))
    const text = page.text.replaceAll(/\s+/g, ' ')
    assert.match(text, /<h2>History<\/h2>/)
    assert.match(text, /<strong>Changed<\/strong> <span class="soft">by \S+@example\.com through tests<\/span>/)
    assert.match(text, /<li>Price: from 4321 to 1234<\/li>/)
    assert.match(text, /<li>Colour: F<\/li>/)
    assert.match(text, /<li>Origin: Natural<\/li>/)
    assert.ok(text.includes(`<li>Access: ${['Restricted', 'Unlisted', 'Public'][access]}</li>`))
    assert.ok(text.indexOf('Changed</strong>') < text.indexOf('Created</strong>'), 'newest first')
    assert.not.match(text, /<b>bold/)
    assert.is(page.headers['cache-control'], 'no-store')
    assert.is(page.headers['x-robots-tag'], 'noindex')
    for (const [, source = ''] of page.text.matchAll(/<img\s+src="([^"]*)"/g)) {
      expect(200, await open(service, new URL(source.replaceAll('&amp;', '&'), await ownersLink(ann, stone.id))))
    }
    const others = expect(200, await open(service, buyersLink(stone)))
    for (const hidden of ['What happened', '4321', '1234', '@example.com', 'history'])
      assert.not.ok(others.text.includes(hidden), hidden)
  })
}

test('is not opened by the link for others, and its link opens nothing else', async ({ service, ann, bob }) => {
  const stone = await created(ann, { access: 0 })
  const [link, buyers] = [await ownersLink(ann, stone.id), buyersLink(stone)]
  const path = `/diamond/${stone.id}`
  for (const search of ['', buyers.search, '?signature=x']) {
    expect(404, await service.send({ path: `${path}/history${search}` }))
  }
  expect(404, await service.send({ path: path + link.search }))
  expect(404, await service.send({ path: `/diamond/${stone.id + 1}/history${link.search}` }))
  expect(404, await service.send({ path: `/diamond/x/history${link.search}` }))
  refusal(403, await bob.get(`/v4/diamond/${stone.id}/history`))
})

test('has a link that ends when access changes, when the stone is deleted, and after a day', async ({
  service,
  ann,
  time,
}) => {
  const stone = await created(ann, { access: 1 })
  const before = await ownersLink(ann, stone.id)
  expect(200, await ann.patch(`/v4/diamond/${stone.id}`, { access: 2 }))
  expect(404, await open(service, before))
  const link = await ownersLink(ann, stone.id)
  time.now += 23 * 3_600_000
  expect(200, await open(service, link))
  time.now += 2 * 3_600_000
  expect(410, await open(service, link))
  const another = await ownersLink(ann, stone.id)
  expect(204, await ann.remove(`/v4/diamond/${stone.id}`))
  expect(404, await open(service, another))
  const { headers } = expect(200, await ann.get(`/v4/diamond/${stone.id}/history`))
  assert.not.match(String(headers.link), /alternate/)
})

test('shows the newest 50 entries and the number of earlier ones', async ({ service, ann }) => {
  const { id } = await created(ann)
  for (let price = 1; price <= 52; price++) expect(200, await ann.patch(`/v4/diamond/${id}`, { price }))
  const { text } = expect(200, await open(service, await ownersLink(ann, id)))
  assert.is(text.match(/<time /g)?.length, 50)
  assert.match(text, /3 earlier entries/)
  assert.match(text, /Price: from 51 to 52/)
})

test.run()
