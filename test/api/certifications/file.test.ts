import * as assert from 'uvu/assert'
import { attached, certification, file, pathOf, smallPdf, text, upload } from '../harness/form.ts'
import { expect, refusal } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { created } from '../harness/stones.ts'

const test = apiSuite("a certification's file")

test('is served unchanged to every client with its link, inline and sandboxed', async ({ ann, service }) => {
  const { id } = await created(ann)
  const pdf = smallPdf(300_000)
  const { file: link } = await attached(ann, id, pdf)
  assert.match(link ?? '', /[?&]signature=[\w-]{16,}$/)
  const { status, headers, text: content } = await service.send({ path: pathOf(link) })
  assert.is(status, 200)
  assert.ok(Buffer.from(content).equals(pdf))
  assert.is(headers['content-type'], 'application/pdf')
  assert.is(headers['content-length'], '300000')
  assert.is(headers['content-disposition'], 'inline; filename="33188.pdf"')
  assert.is(headers['x-content-type-options'], 'nosniff')
  assert.match(String(headers['content-security-policy']), /default-src 'none'.*sandbox/)
  assert.is(headers['accept-ranges'], 'bytes')
  assert.match(String(headers.etag), /^"[0-9a-f]{64}"$/)
})

test('is 404 with a wrong signature or without one', async ({ ann, service }) => {
  const { id } = await created(ann)
  const [one, two] = [pathOf((await attached(ann, id)).file), pathOf((await attached(ann, id)).file)]
  const [path = '', signature = ''] = one.split('?')
  const wrong = `${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`
  for (const target of [path, `${path}?${wrong}`, `${path}?${two.split('?')[1]}`, `${path}?signature=`]) {
    refusal(404, await service.send({ path: target }))
  }
  refusal(400, await service.send({ path: `${one}&${signature}` }))
})

test('has its length and no body for HEAD', async ({ ann, service }) => {
  const { id } = await created(ann)
  const path = pathOf((await attached(ann, id, smallPdf(5_000))).file)
  const { status, headers, text: content } = await service.send({ method: 'HEAD', path })
  assert.equal(
    [status, headers['content-length'], headers['content-type'], content],
    [200, '5000', 'application/pdf', ''],
  )
})

test('supports range requests', async ({ ann, service }) => {
  const { id } = await created(ann)
  const pdf = smallPdf(1_000)
  const path = pathOf((await attached(ann, id, pdf)).file)
  const part = (range: string, more = {}) => service.send({ path, headers: { Range: range, ...more } })
  for (const [range, start, end] of [
    ['bytes=0-4', 0, 4],
    ['bytes=995-', 995, 999],
    ['bytes=-5', 995, 999],
    ['bytes=900-5000', 900, 999],
    ['bytes=-5000', 0, 999],
  ] as const) {
    const { status, headers, text: content } = await part(range)
    assert.equal([range, status, headers['content-range']], [range, 206, `bytes ${start}-${end}/1000`])
    assert.is(headers['content-length'], String(end - start + 1))
    assert.is(content, pdf.subarray(start, end + 1).toString())
  }
  for (const range of ['bytes=1000-', 'bytes=-0']) {
    const response = await part(range)
    refusal(416, response)
    assert.is(response.headers['content-range'], 'bytes */1000')
  }
  for (const range of ['bytes=5-2', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=x-'])
    assert.is((await part(range)).status, 200)
  const etag = String((await service.send({ path })).headers.etag)
  assert.is((await part('bytes=0-1', { 'If-Range': etag })).status, 206)
  assert.is((await part('bytes=0-1', { 'If-Range': '"older"' })).status, 200)
})

test('returns 304 for its ETag', async ({ ann, service }) => {
  const { id } = await created(ann)
  const path = pathOf((await attached(ann, id)).file)
  const etag = String((await service.send({ path })).headers.etag)
  const again = await service.send({ path, headers: { 'If-None-Match': etag } })
  assert.equal([again.status, again.headers.etag, again.text], [304, etag, ''])
})

test('has a safe file name in Content-Disposition', async ({ ann, service }) => {
  const { id } = await created(ann)
  for (const [given, disposition] of [
    ['../../../etc/passwd', 'inline; filename="passwd.pdf"'],
    ['C:\\\\temp\\\\r.exe', 'inline; filename="r.exe.pdf"'],
    ['Prüf"bericht', `inline; filename="Prufbericht.pdf"; filename*=UTF-8''Pr%C3%BCfbericht.pdf`],
    ['a%0d%0aX-Evil: 1', `inline; filename="a_0d_0aX-Evil 1.pdf"; filename*=UTF-8''a%250d%250aX-Evil%201.pdf`],
    ['\u202efdp.exe', 'inline; filename="fdp.exe.pdf"'],
    ['钻石', `inline; filename="__.pdf"; filename*=UTF-8''%E9%92%BB%E7%9F%B3.pdf`],
    ['=?UTF-8?B?w7/Dvy5wZGY=?=', `inline; filename="yy.pdf"; filename*=UTF-8''%C3%BF%C3%BF.pdf`],
    ['.pdf', undefined],
  ] as const) {
    const escaped = given.replaceAll('"', '%22')
    const parts = [
      text('product', id),
      text('laboratory', 'HRD'),
      file(smallPdf(), given === escaped ? given : given.replaceAll('"', '\\"')),
    ]
    const made = certification(expect(201, await upload(ann, parts)))
    const { headers } = await service.send({ path: pathOf(made.file) })
    assert.is(
      headers['content-disposition'],
      disposition ?? `inline; filename="HRD-certification-${made.id}.pdf"`,
      given,
    )
    assert.is(headers['x-evil'], undefined)
  }
})

test('is 404 as soon as its certification or diamond is deleted', async ({ ann, service }) => {
  const { id } = await created(ann)
  const pdf = smallPdf()
  const [one, two] = [await attached(ann, id, pdf), await attached(ann, id, pdf)]
  expect(204, await ann.remove(`/v4/certification/${one.id}`))
  refusal(404, await service.send({ path: pathOf(one.file) }))
  expect(200, await service.send({ path: pathOf(two.file) }))
  expect(204, await ann.remove(`/v4/diamond/${id}`))
  refusal(404, await service.send({ path: pathOf(two.file) }))
})

test('and a report page return 400 for a duplicate signature', async ({ ann, service }) => {
  const diamond = await created(ann)
  const { file: link } = await attached(ann, diamond.id)
  const [page] = diamond['_links'] as readonly { readonly href: string }[]
  for (const address of [link, page?.href]) {
    const { pathname, search } = new URL(address ?? '')
    const once = pathname + search
    expect(200, await service.send({ path: once }))
    for (const twice of [`${once}&${search.slice(1)}`, `${once}&signature=`]) {
      expect(400, await service.send({ path: twice }))
    }
  }
})

test.run()
