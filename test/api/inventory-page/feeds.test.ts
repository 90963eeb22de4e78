import * as assert from 'uvu/assert'
import { expect } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { created } from '../harness/stones.ts'
import { isLogIn, newOwner, type Owner } from './browser.ts'

const test = apiSuite('the page of feeds')

/** The addresses of the feeds that the page shows. */
const addressesIn = (text: string): string[] =>
  [...text.matchAll(/<input readonly value="([^"]*)"/g)].map(([, address = '']) => address.replaceAll('&amp;', '&'))

const openFeeds = async ({ openPage }: Owner) => expect(200, await openPage('/inventory/feeds')).text

test('creates a feed of the filtered stones, which its address gives to anyone, and deletes it', async ({
  service,
}) => {
  const owner = await newOwner(service)
  await created(owner.owner, { sku: 'ROUND', cutShape: 'Round', carat: 1 })
  await created(owner.owner, { sku: 'PEAR', cutShape: 'Pear', carat: 2 })
  // As a client may write the parameters of a list.
  const filters = '?f[cutShape][0]=Pear&f[caratFrom]=1.5&f[isLabGrown]=false'
  const exports = expect(200, await owner.openPage(`/inventory/export${filters}`))
  const [, link = ''] = /href="\.\.\/(inventory\/feeds\?[^"]*)"/.exec(exports.text) ?? []
  const page = expect(200, await owner.openPage(`/${link.replaceAll('&amp;', '&')}`))
  const [, action = ''] = /<form method="post" action="\.\.\/(inventory\/feeds\?[^"]*)"/.exec(page.text) ?? []
  const path = `/${action.replaceAll('&amp;', '&')}`
  const done = expect(303, await owner.submit(path, { do: 'create', name: 'Blue <Nile>', format: 'csv' }))
  assert.is(done.headers.location, '../inventory/feeds')
  const shown = await openFeeds(owner)
  assert.match(shown, /<h2>Blue &lt;Nile&gt;<\/h2>/)
  assert.match(shown, /CSV, stones with (?=.*Shape: Pear)(?=.*Carat, from: 1\.5).*: Natural.*\. <span/)
  const [address = ''] = addressesIn(shown)
  const file = expect(200, await service.send({ path: address.slice(service.url.length) }))
  assert.match(file.text, /,PEAR,/)
  assert.not.match(file.text, /,ROUND,/)
  const [feed] = expect(200, await owner.owner.get('/v4/feed')).json() as [{ id: string; filters: unknown }]
  assert.equal(feed.filters, { cutShape: ['Pear'], caratFrom: 1.5, isLabGrown: false })
  expect(303, await owner.submit('/inventory/feeds', { do: 'delete', id: feed.id }))
  expect(404, await service.send({ path: address.slice(service.url.length) }))
  assert.equal(addressesIn(await openFeeds(owner)), [])
})

test('shows the form again with what was entered, and why it was rejected', async ({ service }) => {
  const owner = await newOwner(service)
  const page = expect(422, await owner.submit('/inventory/feeds', { do: 'create', name: ' ', format: 'idex' }))
  assert.match(page.text, /role="alert">name must be a text of 1 to 100 characters/)
  assert.match(page.text, /<option value="idex" selected>/)
  for (let feed = 1; feed <= 10; feed++)
    expect(303, await owner.submit('/inventory/feeds', { do: 'create', name: `Feed ${feed}`, format: 'csv' }))
  const full = expect(422, await owner.submit('/inventory/feeds', { do: 'create', name: 'One more', format: 'csv' }))
  assert.match(full.text, /at most 10 feeds/)
  assert.match(full.text, /name="name"[^>]* value="One more"/)
})

test('rejects filters, buttons and feeds that do not exist, and forms of other sites', async ({ service }) => {
  const [owner, other] = [await newOwner(service), await newOwner(service)]
  const create = { do: 'create', name: 'x', format: 'csv' }
  expect(400, await owner.openPage('/inventory/feeds?f[caratFrom]=heavy'))
  expect(422, await owner.openPage('/inventory/feeds?f[flavour][]=sweet'))
  expect(400, await owner.submit('/inventory/feeds?f[caratFrom]=heavy', create))
  expect(422, await owner.submit('/inventory/feeds?f[flavour][]=sweet', create))
  expect(422, await owner.submit('/inventory/feeds', { ...create, format: 'xml' }))
  expect(400, await owner.submit('/inventory/feeds', { ...create, do: 'burn' }))
  expect(303, await other.submit('/inventory/feeds', create))
  const [feed] = expect(200, await other.owner.get('/v4/feed')).json() as [{ id: string }]
  expect(404, await owner.submit('/inventory/feeds', { do: 'delete', id: feed.id }))
  expect(403, await owner.submit('/inventory/feeds', create, { 'Sec-Fetch-Site': 'cross-site' }))
  assert.equal(addressesIn(await openFeeds(owner)), [])
})

test('is the log-in form without a session', async ({ service }) => {
  assert.ok(isLogIn(expect(200, await service.send({ path: '/inventory/feeds' }))))
})

test.run()
