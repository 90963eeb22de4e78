import * as assert from 'uvu/assert'
import { expect } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { created } from '../harness/stones.ts'
import { isLogIn, newOwner } from './browser.ts'

const test = apiSuite('the exports of the inventory page')

test('lead from the filtered list to a file with these stones', async ({ service }) => {
  const { owner, openPage } = await newOwner(service)
  await created(owner, { sku: 'ROUND', cutShape: 'Round', carat: 1 })
  await created(owner, { sku: 'PEAR', cutShape: 'Pear', carat: 2 })
  const list = expect(200, await openPage('/inventory?f[cutShape][]=Pear&f[caratFrom]=1.5&sort=price'))
  const [, address = ''] = /href="(inventory\/export\?[^"]*)"/.exec(list.text) ?? []
  const page = expect(200, await openPage(`/${address.replaceAll('&amp;', '&')}`))
  assert.match(page.text, /Stones with Shape: Pear; Carat, from: 1\.5\./)
  const [, download = ''] = /href="\.\.\/(inventory\/export\/csv\?[^"]*)"/.exec(page.text) ?? []
  const file = expect(200, await openPage(`/${download.replaceAll('&amp;', '&')}`))
  assert.match(String(file.headers['content-disposition']), /^attachment; filename="stones-/)
  assert.match(file.text, /,PEAR,/)
  assert.not.match(file.text, /,ROUND,/)
})

test('for a portal say first what it requires and stones lack', async ({ service }) => {
  const { owner, openPage } = await newOwner(service)
  for (let n = 1; n <= 12; n++) await created(owner, { sku: `S-${n}`, color: 'D', clarity: 'IF' })
  await created(owner, { sku: 'LG', isLabGrown: true })
  const formats = expect(200, await openPage('/inventory/export'))
  assert.match(formats.text, /href="\.\.\/inventory\/export\?format=rapnet"/)
  assert.not.match(formats.text, /export\/rapnet/)
  const { text } = expect(200, await openPage('/inventory/export?format=rapnet'))
  assert.match(text, /The file has 12 stones\./)
  assert.match(text, /<li>1 stone is laboratory-grown, which RapNet does not list: they are left out \(LG\)<\/li>/)
  assert.match(text, /<li>12 stones are without a price \(S-1, .*S-10 and 2 more\)<\/li>/)
  assert.match(text, /RapNet also requires the location/)
  const file = expect(200, await openPage('/inventory/export/rapnet'))
  assert.is(file.text.trimEnd().split('\r\n').length, 13)
})

test('show the log-in form to a browser without a session, and no stones of other accounts', async ({ service }) => {
  const [one, other] = [await newOwner(service), await newOwner(service)]
  await created(one.owner, { sku: 'MINE' })
  for (const path of ['/inventory/export', '/inventory/export/csv'])
    assert.ok(isLogIn(expect(200, await service.send({ path }))), path)
  const file = expect(200, await other.openPage('/inventory/export/csv'))
  assert.not.match(file.text, /MINE/)
})

test('reject unknown formats and filters with a page', async ({ service }) => {
  const { openPage } = await newOwner(service)
  expect(404, await openPage('/inventory/export/xml'))
  assert.match(expect(422, await openPage('/inventory/export?format=xml')).text, /format must be one of/)
  expect(400, await openPage('/inventory/export?f[caratFrom]=heavy'))
  expect(400, await openPage('/inventory/export/csv?f[caratFrom]=heavy'))
  expect(422, await openPage('/inventory/export/csv?f[flavour][]=sweet'))
})

test.run()
