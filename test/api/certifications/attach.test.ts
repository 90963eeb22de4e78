import * as assert from 'uvu/assert'
import { attachCertificationEndpoint } from '../../../src/http/certifications/certifications.ts'
import { expectDeclaredBody } from '../harness/declared-responses.ts'
import type { Vendor } from '../harness/account.ts'
import { attached, certification, file, smallPdf, text, upload, type Part } from '../harness/form.ts'
import { expect, pointers, refusal } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { created, shown } from '../harness/stones.ts'

const test = apiSuite('attaching a certification')

test('returns the certification, which then appears in the v4 diamond and not in v3', async ({ ann, service }) => {
  const { id } = await created(ann)
  const parts = [text('product', id), text('laboratory', 'GIA'), text('number', '33188'), file(smallPdf())]
  const response = expect(201, await upload(ann, parts))
  expectDeclaredBody(attachCertificationEndpoint, 201, response.json())
  const shownCertification = certification(response)
  assert.equal(Object.keys(shownCertification), ['id', 'laboratory', 'number', 'url', 'file'])
  assert.is(shownCertification.laboratory, 'GIA')
  assert.is(shownCertification.number, '33188')
  assert.is(shownCertification.url, 'https://www.gia.edu/report-check?reportno=33188')
  assert.ok(shownCertification.file?.startsWith(service.url))
  const diamond = shown(await ann.get(`/v4/diamond/${id}`))
  assert.equal(diamond['certifications'], [shownCertification])
  assert.is(shown(await ann.get(`/v3/diamond/${id}`))['certifications'], undefined)
})

test('accepts a laboratory in any letter case', async ({ ann }) => {
  const { id } = await created(ann)
  const response = await ann.post('/v4/certification', { product: id, laboratory: ' igi\u00a0' })
  assert.is((expect(201, response).json() as { laboratory: string }).laboratory, 'IGI')
})

test('accepts JSON without a file, and form parts in any order', async ({ ann }) => {
  const { id } = await created(ann)
  const json = expect(201, await ann.post('/v4/certification', { laboratory: 'GCAL', number: '33188', product: id }))
  assert.is(certification(json).file, null)
  const parts = [file(smallPdf()), text('number', ''), text('laboratory', 'IIDGR'), text('product', id)]
  const reordered = certification(expect(201, await upload(ann, parts)))
  assert.is(reordered.number, null)
  assert.is(reordered.url, null)
  assert.match(reordered.file ?? '', /^http/)
  const diamond = shown(await ann.get(`/v4/diamond/${id}`))
  assert.equal(diamond['certifications'], [certification(json), reordered])
})

test('treats the empty file of a browser form as none', async ({ ann }) => {
  const { id } = await created(ann)
  const parts = [text('product', id), text('laboratory', 'GIA'), file('', '', 'application/octet-stream')]
  assert.is(certification(expect(201, await upload(ann, parts))).file, null)
})

test('increments the diamond revision in the ETag, and so does removing', async ({ ann }) => {
  const { id } = await created(ann)
  const etag = async () => (await ann.get(`/v4/diamond/${id}`)).headers.etag
  assert.is(await etag(), '"0.0"')
  const { id: certificationId } = await attached(ann, id)
  assert.is(await etag(), '"1.0"')
  expect(204, await ann.remove(`/v4/certification/${certificationId}`))
  assert.is(await etag(), '"2.0"')
})

test('assigns unique ids', async ({ ann, bob }) => {
  const stones = [await created(ann), await created(bob)]
  const all = await Promise.all(
    [...Array(30).keys()].map((n) =>
      ([ann, bob][n % 2] ?? ann).post('/v4/certification', { product: stones[n % 2]?.id ?? 0, laboratory: 'GIA' }),
    ),
  )
  assert.is(new Set(all.map((response) => certification(expect(201, response)).id)).size, 30)
})

test('is rejected with all its errors at once, 422 before 403 before 404', async ({ ann, bob }) => {
  const { id } = await created(bob)
  const wrong = [text('laboratory', 'EGL'), text('number', 'x'.repeat(65)), text('labratory', 'GIA')]
  const body = refusal(422, await upload(ann, [...wrong, text('product', id)]))
  assert.equal(pointers(body), ['/laboratory', '/labratory', '/number', '/product'])
  assert.ok(body.error.some((message) => message.includes('did you mean laboratory?')))
  assert.equal(pointers(refusal(422, await ann.post('/v4/certification', {}))), ['/laboratory', '/product'])
  for (const send of [
    (product: number) => upload(ann, [text('product', product), text('laboratory', 'GIA'), file(smallPdf())]),
    (product: number) => ann.post('/v4/certification', { product, laboratory: 'GIA' }),
  ]) {
    refusal(403, await send(id))
    refusal(404, await send(9_999_999))
  }
  assert.equal(shown(await bob.get(`/v4/diamond/${id}`))['certifications'], [])
})

test('is rejected without a valid token before its file is read', async ({ service }) => {
  refusal(401, await service.send({ method: 'POST', path: '/v4/certification', body: smallPdf() }))
})

const refusedForms: readonly (readonly [string, number, (product: Part) => readonly Part[]])[] = [
  ['a PNG renamed to .pdf', 415, (product) => [product, file(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))]],
  ['a truncated PDF', 415, (product) => [product, file(smallPdf().subarray(0, 500))]],
  [
    'a PDF whose header begins after the first 1,024 bytes',
    415,
    (product) => [product, file(Buffer.concat([Buffer.alloc(1_024, ' '), smallPdf()]))],
  ],
  ['an empty file', 415, (product) => [product, file('')]],
  ['four bytes of a PDF', 415, (product) => [product, file('%PDF')]],
  ['a duplicate part', 400, (product) => [product, text('laboratory', 'HRD')]],
  ['two files', 400, (product) => [product, file(smallPdf()), file(smallPdf())]],
  ['a file sent as text', 422, (product) => [product, text('file', '%PDF-1.7 %%EOF')]],
  ['a product sent as a file', 422, () => [{ name: 'product', content: '1', filename: 'product.txt' }]],
  ['too many parts', 400, (product) => [product, ...[...Array(30).keys()].map((n) => text(`p${n}`, n))]],
]

for (const [name, status, parts] of refusedForms) {
  test(`rejects ${name} with ${status}`, async ({ ann }) => {
    const { id } = await created(ann)
    refusal(status, await upload(ann, [text('laboratory', 'GIA'), ...parts(text('product', id))]))
    assert.equal(shown(await ann.get(`/v4/diamond/${id}`))['certifications'], [])
  })
}

test('accepts a PDF with any name, and with bytes before its header and after its end', async ({ ann }) => {
  const { id } = await created(ann)
  for (const pdf of [
    file(smallPdf(), 'photo.png', 'image/png'),
    file(Buffer.concat([smallPdf(), Buffer.alloc(5_000)]), 'padded.pdf'),
    file(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), smallPdf(), Buffer.alloc(2_000, 'x')]), 'saved.pdf'),
    file(Buffer.concat([smallPdf(), Buffer.from('\r\n   \r\n')])),
  ]) {
    expect(201, await upload(ann, [text('product', id), text('laboratory', 'GIA'), pdf]))
  }
})

test('returns a Location', async ({ ann, service }) => {
  const { id } = await created(ann)
  for (const response of [
    await upload(ann, [text('product', id), text('laboratory', 'GIA'), file(smallPdf())]),
    await ann.post('/v4/certification', { product: id, laboratory: 'GIA' }),
  ]) {
    const { id: attachedId } = certification(expect(201, response))
    assert.is(response.headers.location, `${service.url}/v4/certification/${attachedId}`)
    expect(204, await ann.remove(new URL(response.headers.location ?? '').pathname))
  }
})

const urlencoded = (vendor: Vendor, body: string) =>
  vendor.send({ method: 'POST', path: '/v4/certification', headers: { 'Content-Type': FORM }, body })
const FORM = 'application/x-www-form-urlencoded; charset=UTF-8'

test('accepts a URL-encoded form without a file', async ({ ann, bob }) => {
  const { id } = await created(ann)
  const accepted = certification(
    expect(201, await urlencoded(ann, `product=${id}&laboratory=%20GIA+&number=33+188&file=`)),
  )
  assert.equal([accepted.laboratory, accepted.number, accepted.file], ['GIA', '33 188', null])
  assert.equal(shown(await ann.get(`/v4/diamond/${id}`))['certifications'], [accepted])
  const wrong = refusal(422, await urlencoded(ann, 'product=x&laboratory=EGL&lab=1&file=%25PDF'))
  assert.equal(pointers(wrong), ['/file', '/lab', '/laboratory', '/product'])
  assert.equal(pointers(refusal(400, await urlencoded(ann, `product=${id}&product=${id}&laboratory=GIA`))), [
    '/product',
  ])
  const { details } = refusal(422, await urlencoded(ann, `product=${id}&laboratory=GIA&number[a]=1&number[]=2`))
  assert.equal(details?.map(({ pointer }) => pointer).toSorted(), ['/number[]', '/number[a]'])
  refusal(400, await urlencoded(ann, 'a=1&'.repeat(200)))
  refusal(413, await urlencoded(ann, `product=${id}&laboratory=${'x'.repeat(70_000)}`))
  refusal(403, await urlencoded(bob, `product=${id}&laboratory=GIA`))
  refusal(404, await urlencoded(ann, 'product=99999999&laboratory=GIA'))
})

test('reports errors of the texts, the file and the diamond together, whatever the order of the parts', async ({
  ann,
  bob,
}) => {
  const [mine, theirs] = [await created(ann), await created(bob)]
  const noPdf = file(Buffer.alloc(300_000, 'no PDF'))
  const texts = [text('laboratory', 'EGL'), text('number', ' ')]
  for (const parts of [
    [noPdf, text('product', theirs.id), ...texts],
    [text('product', theirs.id), ...texts, noPdf],
  ]) {
    const body = refusal(422, await upload(ann, parts))
    assert.equal(pointers(body), ['/file', '/laboratory', '/number', '/product'])
  }
  const good = [text('laboratory', 'GIA'), noPdf]
  assert.equal(pointers(refusal(415, await upload(ann, [...good, text('product', mine.id)]))), ['/file'])
  assert.equal(pointers(refusal(415, await upload(ann, [...good, text('product', theirs.id)]))), ['/file', '/product'])
  assert.equal(pointers(refusal(415, await upload(ann, [...good, text('product', 99_999_999)]))), ['/file', '/product'])
  assert.equal(pointers(refusal(422, await upload(ann, [noPdf]))), ['/file', '/laboratory', '/product'])
  const asText = [text('file', '%PDF'), text('laboratory', 'EGL'), text('product', mine.id)]
  assert.equal(pointers(refusal(422, await upload(ann, asText))), ['/file', '/laboratory'])
})

test('reports errors of the texts before a file that is too large', async ({ ann }) => {
  const { id } = await created(ann)
  const large = file(Buffer.concat([smallPdf(), Buffer.alloc(10_485_760)]))
  const before = [text('laboratory', 'EGL'), text('product', id), large]
  assert.equal(pointers(refusal(413, await upload(ann, before))), ['/file', '/laboratory'])
})

test('rejects a body of another type, an invalid form and an incomplete one', async ({ ann }) => {
  const post = (type: string, body: string) =>
    ann.send({ method: 'POST', path: '/v4/certification', headers: { 'Content-Type': type }, body })
  refusal(415, await post('application/pdf', '%PDF-1.7 %%EOF'))
  refusal(400, await post('multipart/form-data', 'x'))
  refusal(
    400,
    await post('multipart/form-data; boundary=abc', '--abc\r\nContent-Disposition: form-data; name="a"\r\n\r\n1'),
  )
  refusal(400, await post('multipart/form-data; boundary=abc', 'nothing of a form'))
  refusal(400, await post('application/json', '{"product":'))
})

test.run()
