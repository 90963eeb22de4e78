import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import {
  LIST_ATTRIBUTES,
  NEWEST_FIRST,
  parametersOf,
  SORTS,
} from '../../../src/projections/diamonds/list-attributes.ts'
import type { Scores } from '../../../src/optics/scores.ts'
import { untilEtag } from '../harness/scored.ts'
import { expect, type ApiResponse } from '../harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'
import { created, createdMany } from '../harness/stones.ts'
import { isLogIn, newOwner } from './browser.ts'

type Given = { service: Service }
const test = suite<Given>('the inventory page')
test.before(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
})
test.after(({ service }) => service.stop())

const skus = ({ text }: ApiResponse): string[] =>
  [...text.matchAll(/<th role="rowheader" scope="row"><span title="[^"]*">([^<]*)<\/span><\/th>/g)].map(
    ([, sku = '']) => sku,
  )

/** The text that says how many stones there are. */
const statusLine = ({ text }: ApiResponse): string => /<p role="status">([^<]*)</.exec(text)?.[1] ?? ''

const linkTo = ({ text }: ApiResponse, name: string): string =>
  new RegExp(`<a href="([^"]*)">${name}</a>`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''

test('shows only the stones of the account, newest first', async ({ service }) => {
  const { owner, openPage } = await newOwner(service)
  assert.is(statusLine(expect(200, await openPage('/inventory'))), 'No stones')
  await created(service.ann, { sku: 'HERS' })
  await created(owner, { sku: 'A <b>', price: 12_345.5, color: 'G', clarity: 'VS1', cutQuality: 'Excellent' })
  await created(owner, { sku: 'B', isColored: true, fancyGrade: 'Fancy Intense', colorHue: 'Yellow' })
  const page = expect(200, await openPage('/inventory'))
  assert.equal(skus(page), ['B', 'A &lt;b&gt;'])
  assert.is(statusLine(page), '2 stones')
  for (const shown of [
    '12,345.50',
    '>G<',
    '>VS1<',
    'title="Excellent">EX<',
    '>Fancy Intense Yellow<',
    '>0.73<',
    'Restricted',
  ]) {
    assert.ok(page.text.includes(shown), shown)
  }
  assert.not(page.text.includes('<b>'))
})

test('filters and sorts by the same query as the v4 list', async ({ service }) => {
  const { owner, openPage } = await newOwner(service)
  await created(owner, { sku: 'small', carat: 0.5, color: 'D', price: 900 })
  await created(owner, { sku: 'large', carat: 2, color: 'G', price: 9000, isLabGrown: true })
  await created(owner, { sku: 'pear', carat: 1, color: 'G', cutShape: 'Pear' })
  const found = async (query: string) => skus(expect(200, await openPage(`/inventory?${query}`)))
  assert.equal(await found('f[sku][]=pear'), ['pear'])
  assert.equal(await found('f[cutShape][]=Round&f[caratFrom]=1'), ['large'])
  assert.equal(await found('f[color][]=G&sort=carat'), ['pear', 'large'])
  assert.equal(await found('f[isLabGrown]=0&sort=-carat'), ['pear', 'small'])
  assert.equal(await found('f[priceTo]=1000'), ['small'])
  assert.equal(await found('f[color][]=D&f[clarity][]=IF'), [])
  // A form also sends its empty fields, which are removed from the address.
  const blank = 'f[sku][]=&f[caratFrom]=&f[caratTo]=&sort=&f[isLabGrown]=&f[dateFrom]=&limit='
  const { headers } = expect(303, await openPage(`/inventory?${blank}&sort=carat&f[caratFrom]=1&f[color][]=G`))
  assert.is(headers.location, 'inventory?sort=carat&f%5BcaratFrom%5D=1&f%5Bcolor%5D%5B%5D=G')
  assert.is(expect(303, await openPage(`/inventory/?${blank}`)).headers.location, '../inventory')
  const today = new Date().toISOString().slice(0, 10)
  assert.equal(await found(`f[dateFrom]=${today}&f[dateTo]=${today}`), ['pear', 'large', 'small'])
  assert.equal(await found('f[dateTo]=2015-08-09'), [])
})

test('keeps the chosen filters in its form', async ({ service }) => {
  const { openPage } = await newOwner(service)
  const { text } = expect(200, await openPage('/inventory?f[sku][]=a%22b&f[color][]=G&f[caratFrom]=1.5&sort=-price'))
  assert.ok(text.includes('value="a&quot;b"'))
  assert.match(text, /name="f\[caratFrom\]"[^>]*value="1\.5"/)
  assert.match(text, /value="G"\s+checked/)
  assert.match(text, /value="-price"\s+selected/)
  assert.match(text, /<details\s+open>/)
})

test('offers every filter and sort order of the v4 list, and of the two overall scores only the cut performance', async ({
  service,
}) => {
  const { openPage } = await newOwner(service)
  const { text } = expect(200, await openPage('/inventory'))
  const members = LIST_ATTRIBUTES.filter(
    ({ name, versions }) => name !== 'id' && name !== 'integral' && versions.includes('v4'),
  )
  for (const parameter of members.flatMap(parametersOf)) assert.ok(text.includes(`name="${parameter}"`), parameter)
  for (const sort of SORTS) {
    const isOffered = text.includes(`<option value="${sort === NEWEST_FIRST ? '' : sort}"`)
    assert.is(isOffered, !sort.endsWith('integral'), sort)
  }
})

test('shows the cut performance that the report page grades, not the value that depends on the size', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, scored: true })
  try {
    const { owner, openPage } = await newOwner(service)
    const { id } = await created(owner, { carat: 3, cutQuality: 'Excellent' })
    const { scores } = (await untilEtag(owner, id, '"0.1"')).json() as { scores: Scores }
    const [val, rg] = [scores.integral?.val.toFixed(2), scores.integral?.rg.toFixed(2)]
    assert.is.not(val, rg)
    const { text } = expect(200, await openPage('/inventory?sort=-performance'))
    assert.ok(text.includes(`>${rg}<`) && !text.includes(`>${val}<`))
  } finally {
    await service.stop()
  }
})

test('says in the words of its form why a list is refused', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, maxScannedDiamonds: 2 })
  try {
    const { owner, openPage } = await newOwner(service)
    await createdMany(owner, 3)
    const { text } = expect(422, await openPage('/inventory?f[cutShape][]=Round&f[performanceFrom]=0.9&sort=-price'))
    assert.ok(
      text.includes(
        'no index serves Cut performance, from with “Highest price first”; Shape with “Highest price first” works for any number of stones',
      ),
      /<[^>]*role="alert"[^]*?<\/div>/.exec(text)?.[0] ?? text,
    )
  } finally {
    await service.stop()
  }
})

test('is paginated and keeps the filters', async ({ service }) => {
  const { owner, openPage } = await newOwner(service)
  await createdMany(owner, 60)
  const first = expect(200, await openPage('/inventory?f[cutShape][]=Round'))
  assert.is(statusLine(first), 'Stones 1 to 25 of 60')
  assert.is(linkTo(first, 'Previous'), '')
  const second = expect(200, await openPage(`/inventory${linkTo(first, 'Next')}`))
  assert.is(statusLine(second), 'Stones 26 to 50 of 60')
  const last = expect(200, await openPage(`/inventory${linkTo(second, 'Last')}`))
  assert.is(statusLine(last), 'Stones 51 to 60 of 60')
  assert.is(linkTo(last, 'Next'), '')
  assert.equal(skus(await openPage(`/inventory${linkTo(last, 'Previous')}`)), skus(second))
  assert.equal(skus(await openPage(`/inventory${linkTo(last, 'First')}`)), skus(first))
  assert.is(new Set([first, second, last].flatMap(skus)).size, 60)
  const beyond = expect(200, await openPage('/inventory?offset=500'))
  assert.is(statusLine(beyond), '60 stones')
  assert.is(statusLine(await openPage(`/inventory${linkTo(beyond, 'Previous')}`)), 'Stones 51 to 60 of 60')
})

test('shows the error of a query and keeps the input', async ({ service }) => {
  const { openPage } = await newOwner(service)
  for (const [query, status, message] of [
    ['f[caratFrom]=much', 400, 'Carat, from must be a number'],
    ['after=x', 400, 'cursor'],
    ['sort=weight', 422, 'Order must be one of'],
    ['f[color][]=Blue', 422, 'Colour '],
    ['limit=0', 422, 'Stones per page must be from 1'],
    ['LIMIT=7', 400, 'did you mean limit?'],
  ] as const) {
    const page = expect(status, await openPage(`/inventory?${query}&f[sku][]=typed`))
    assert.ok(/<p class="alert" role="alert">([^<]*)</.exec(page.text)?.[1]?.includes(message), query)
    assert.ok(page.text.includes('value="typed"') && page.text.includes('Log out'))
  }
  const anonymous = expect(400, await service.send({ path: '/inventory?limit=x' }))
  assert.ok(isLogIn(anonymous))
})

test('links to the report page and the history of each stone', async ({ service }) => {
  const { owner, openPage } = await newOwner(service)
  const { id } = await created(owner, { sku: 'A', price: 4321 })
  expect(200, await owner.patch(`/v4/diamond/${id}`, { price: 1234 }))
  const { text } = await openPage('/inventory')
  const report = new URL(/<a href="([^"]*)" aria-label="Report of A"/.exec(text)?.[1] ?? '')
  expect(200, await service.send({ path: report.pathname + report.search }))
  const past = /<a href="([^"]*)" aria-label="History of A"/.exec(text)?.[1] ?? ''
  assert.is(past, `inventory/${id}`)
  const page = expect(200, await openPage(`/${past}`))
  assert.match(page.text, '<h2>History</h2>')
  assert.match(page.text.replaceAll(/\s+/g, ' '), 'Price: from 4321 to 1234')
  assert.is(page.headers['cache-control'], 'no-store')
  for (const [, source = ''] of page.text.matchAll(/<img\s+src="([^"]*)"/g)) {
    const { pathname, search } = new URL(source.replaceAll('&amp;', '&'), `${service.url}/${past}`)
    expect(200, await service.send({ path: pathname + search }))
  }
  assert.ok(isLogIn(expect(200, await service.send({ path: `/${past}` }))))
})

test('returns 404 for stones of other accounts, deleted stones and invalid ids', async ({ service }) => {
  const { owner, openPage } = await newOwner(service)
  const { id: vendorStone } = await created(service.ann)
  const { id: deleted } = await created(owner)
  expect(204, await owner.remove(`/v4/diamond/${deleted}`))
  for (const id of [vendorStone, deleted, 999_999_999, 0, 'x', '%00', '1e3']) {
    const { text } = expect(404, await openPage(`/inventory/${id}`))
    assert.match(text, 'Your inventory has no such stone')
    assert.match(text, '<a href="../inventory">Your inventory</a>')
  }
})

test('is linked from the front page', async ({ service }) => {
  const { text } = await service.send({ path: '/', headers: { Accept: 'text/html' } })
  assert.match(text, '<a href="inventory">Your inventory</a>')
})

test.run()
