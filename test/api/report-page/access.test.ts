import * as assert from 'uvu/assert'
import { qrTextOf } from '../../fixtures/qr-code.ts'
import { expect } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { created } from '../harness/stones.ts'

const test = apiSuite('the report page', { scored: true })

const linkOf = (stone: Readonly<Record<string, unknown>>) => {
  const { href } = (stone['_links'] as readonly { readonly href: string }[])[0] ?? { href: '' }
  return new URL(href)
}

for (const [access, opensBare] of [
  [0, false],
  [1, true],
  [2, true],
] as const) {
  test(`and its pictures with access ${access} open ${opensBare ? 'without a signature' : 'by the signed link only'}`, async ({
    ann,
    service,
  }) => {
    const stone = await created(ann, { access, cutQuality: 'Ideal' })
    const { pathname, search } = linkOf(stone)
    for (const path of ['', '/face-up.png', '/aset.png', '/rocked.png']) {
      assert.is((await service.send({ path: pathname + path })).status, opensBare ? 200 : 404)
      const opened = expect(200, await service.send({ path: pathname + path + search }))
      assert.is(opened.headers['x-content-type-options'], 'nosniff')
      assert.is(opened.headers['x-robots-tag'], access === 2 ? undefined : 'noindex')
      assert.is((await service.send({ path: `${pathname}${path}?signature=x` })).status, opensBare ? 200 : 404)
    }
    const page = await service.send({ path: pathname + search })
    assert.is(page.text.includes('og:title'), access === 2)
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
  })
}

test('and all of its parts reject a duplicate signature', async ({ ann, service }) => {
  const { pathname, search } = linkOf(await created(ann, { access: 0, cutQuality: 'Ideal' }))
  for (const path of ['', '/face-up.png', '/aset.png', '/rocked.png', '/history']) {
    const twice = `${pathname}${path}${search}&${search.slice(1)}`
    assert.match(expect(400, await service.send({ path: twice })).text, 'signature')
  }
})

test('has a QR code of its address, with the signature if one is required', async ({ ann, service }) => {
  const [open, restricted] = [linkOf(await created(ann, { access: 2 })), linkOf(await created(ann, { access: 0 }))]
  const printed = async ({ pathname, search }: URL) =>
    qrTextOf(expect(200, await service.send({ path: pathname + search })).text)
  assert.is(await printed(restricted), restricted.href)
  open.search = ''
  assert.is(await printed(open), open.href)
})

test('looks the same for a restricted diamond and a missing one', async ({ ann, service }) => {
  const { id } = await created(ann, { access: 0 })
  const [hidden, missing] = [
    await service.send({ path: `/diamond/${id}` }),
    await service.send({ path: '/diamond/99999999' }),
  ]
  const plain = (text: string) => text.replace(/Request [^<]*/, '')
  assert.equal([hidden.status, plain(hidden.text)], [missing.status, plain(missing.text)])
})

test('shows its pictures at an address with a trailing slash', async ({ ann, service }) => {
  const { id } = await created(ann, { access: 2, cutQuality: 'Ideal' })
  for (const slash of ['', '/']) {
    const { text } = expect(200, await service.send({ path: `/diamond/${id}${slash}` }))
    const sources = [...text.matchAll(/<img\s+src="([^"]*)"/g)].map(([, source = '']) => source)
    assert.is(sources.length, 3)
    for (const source of sources) {
      const { pathname } = new URL(source, `${service.url}/diamond/${id}${slash}`)
      expect(200, await service.send({ path: pathname }))
    }
  }
})

test('returns 304 for a picture with a known ETag', async ({ ann, service }) => {
  const { id } = await created(ann, { access: 2, cutQuality: 'Ideal' })
  const path = `/diamond/${id}/face-up.png`
  const { headers } = expect(200, await service.send({ path }))
  expect(304, await service.send({ path, headers: { 'If-None-Match': String(headers.etag) } }))
})

test('has no picture of a shape without a model', async ({ ann, service }) => {
  const { id } = await created(ann, { access: 2, cutShape: 'Kite' })
  expect(200, await service.send({ path: `/diamond/${id}` }))
  assert.is((await service.send({ path: `/diamond/${id}/aset.png` })).status, 404)
})

test.run()
