import * as assert from 'uvu/assert'
import { fixture, reportNamed } from '../../fixtures/reports/reports.ts'
import { attached, pathOf, text, upload } from '../harness/form.ts'
import { expect } from '../harness/request.ts'
import { untilEtag } from '../harness/scored.ts'
import { apiSuite, type Service } from '../harness/service.ts'
import { created } from '../harness/stones.ts'

const test = apiSuite('the certificates on a report page', { scored: true })

const NUMBER = '2136273512'
const STONE = { access: 2, carat: 0.73, cutQuality: 'Excellent' }

const pageOf = async (service: Service, id: number, query = '') =>
  expect(200, await service.send({ path: `/diamond/${id}${query}` })).text

/** Creates a public stone that was scored from its report. */
async function createCertified(service: Service, dataAccess: number): Promise<number> {
  const { ann } = service
  const { id } = await created(ann, { ...STONE, dataAccess })
  await untilEtag(ann, id, '"0.1"')
  await attached(ann, id, fixture(reportNamed('gia').file), NUMBER)
  await untilEtag(ann, id, '"1.2"')
  return id
}

/** Whether a page shows the laboratory, the proportions, the number of the report and the link to its PDF. */
const shownDesignData = (page: string) => ({
  laboratory: page.includes('GIA'),
  proportions: page.includes('Pavilion angle') && page.includes('40.8°'),
  number: page.includes(NUMBER),
  file: /\/v4\/certification\/\d+\/file\?signature=/.test(page),
})

for (const [dataAccess, name, expected] of [
  [0, 'hide all design data', { laboratory: true, proportions: false, number: false, file: false }],
  [1, 'hide model and reports', { laboratory: true, proportions: true, number: false, file: false }],
  [2, 'show all', { laboratory: true, proportions: true, number: true, file: true }],
] as const) {
  test(`are shown as dataAccess ${dataAccess} allows: ${name}`, async ({ service }) => {
    assert.equal(shownDesignData(await pageOf(service, await createCertified(service, dataAccess))), expected)
  })
}

test('affect the pictures only if the owner shows all data', async ({ service, ann }) => {
  const { id: nominal } = await created(ann, STONE)
  const etag = async (id: number) => {
    const path = `/diamond/${id}/face-up.png`
    return expect(304, await service.send({ path, headers: { 'If-None-Match': '*' } })).headers.etag
  }
  assert.is(await etag(await createCertified(service, 0)), await etag(nominal))
  assert.is(await etag(await createCertified(service, 1)), await etag(nominal))
  assert.is.not(await etag(await createCertified(service, 2)), await etag(nominal))
})

test('link to the PDF and to the laboratory until they are removed', async ({ service, ann }) => {
  const { id } = await created(ann, { ...STONE, dataAccess: 2 })
  const certification = await attached(ann, id)
  const page = await pageOf(service, id)
  const link = pathOf(certification.file)
  assert.ok(page.includes(link), 'the page has the link of the API')
  assert.ok(page.includes(String(certification.url)))
  assert.is(expect(200, await service.send({ path: link })).headers['content-type'], 'application/pdf')
  expect(204, await ann.remove(`/v4/certification/${certification.id}`))
  assert.not.match(await pageOf(service, id), 'Certificates')
  expect(404, await service.send({ path: link }))
})

test('of a restricted stone are shown through its signed link', async ({ service, ann }) => {
  const stone = await created(ann, { ...STONE, access: 0, dataAccess: 2 })
  await attached(ann, stone.id, undefined, NUMBER)
  const [{ href }] = stone['_links'] as [{ href: string }]
  assert.ok(shownDesignData(await pageOf(service, stone.id, new URL(href).search)).file)
  assert.is((await service.send({ path: `/diamond/${stone.id}` })).status, 404)
})

test('without number or file are shown by laboratory', async ({ service, ann }) => {
  const { id } = await created(ann, { ...STONE, dataAccess: 2 })
  expect(201, await upload(ann, [text('product', id), text('laboratory', 'IGI')]))
  const page = await pageOf(service, id)
  assert.match(page, /<li>\s*IGI\s*<\/li>/)
})

test('cannot inject markup into the page', async ({ service, ann }) => {
  const bad = '"><script>alert(1)</script>'
  const { id } = await created(ann, { ...STONE, dataAccess: 2, sku: bad, cutShape: bad })
  expect(201, await upload(ann, [text('product', id), text('laboratory', 'GIA'), text('number', bad)]))
  const page = await pageOf(service, id)
  assert.not.match(page, '<script')
  assert.ok(page.includes('&lt;script&gt;'))
})

test.run()
