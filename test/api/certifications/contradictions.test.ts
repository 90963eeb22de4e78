import * as assert from 'uvu/assert'
import { fixture, reportNamed } from '../../fixtures/reports/reports.ts'
import { certification, file, text, upload, type ShownCertification } from '../harness/form.ts'
import { expect } from '../harness/request.ts'
import { apiSuite, type Given } from '../harness/service.ts'
import { created, shown } from '../harness/stones.ts'
import { until } from '../../until.ts'

const test = apiSuite('an attached report', { scored: true })

const NUMBERS = { gia: '2136273512', igi: 'LG586382711' } as const
type Report = keyof typeof NUMBERS
type CertificationWithWarnings = ShownCertification & { readonly warnings?: readonly string[] }

/** Attaches a report and waits until it was read. */
async function attachAndRead(
  { ann, service }: Given,
  id: number,
  report: Report,
  overrides: Record<string, string> = {},
) {
  const fields = { laboratory: report.toUpperCase(), number: NUMBERS[report], ...overrides }
  const parts = Object.entries(fields).map(([name, value]) => text(name, value))
  const pdf = file(fixture(reportNamed(report).file))
  certification(expect(201, await upload(ann, [text('product', id), ...parts, pdf])))
  const stream = `diamond-${id}`
  await until('its reading', async () => {
    const events = await service.installation.store.readStream(stream)
    return events.some(({ type }) => type === 'ReportRead')
  })
}

async function firstCertification(
  { ann }: Given,
  id: number,
): Promise<{ readonly one: CertificationWithWarnings; readonly etag: string }> {
  const response = expect(200, await ann.get(`/v4/diamond/${id}`))
  const [one] = shown(response)['certifications'] as CertificationWithWarnings[]
  assert.ok(one)
  return { one, etag: String(response.headers.etag) }
}

const WRONG: readonly (readonly [
  what: string,
  stone: object,
  report: Report,
  overrides: Record<string, string>,
  RegExp,
])[] = [
  ['of another weight', { carat: 0.75 }, 'gia', {}, /0\.73 carats.*0\.75/],
  ['of another shape', { cutShape: 'Oval' }, 'gia', {}, /Round.*Oval/],
  ['with another number', {}, 'gia', { number: '7' }, /2136273512.*7/],
  ['by another laboratory', {}, 'gia', { laboratory: 'HRD' }, /GIA.*HRD/],
  ['of a natural stone', { isLabGrown: true }, 'gia', {}, /natural.*laboratory-grown/],
  ['of a laboratory-grown stone', { carat: 1.01 }, 'igi', {}, /laboratory-grown.*natural/],
]

for (const [description, stone, report, overrides, warning] of WRONG) {
  test(`${description} is shown with a warning, and its measurements are not used`, async (given) => {
    const { ann } = given
    const { id } = await created(ann, { ...stone, access: 2, dataAccess: 2 })
    await attachAndRead(given, id, report, overrides)
    const { one } = await firstCertification(given, id)
    assert.is(one.warnings?.length, 1)
    assert.match(String(one.warnings?.[0]), warning)
    const [listed] = (await ann.get(`/v4/diamond?f[id][]=${id}`)).json() as {
      certifications: CertificationWithWarnings[]
    }[]
    assert.equal(listed?.certifications, [one])
    const page = (await given.service.send({ path: `/diamond/${id}` })).text
    assert.match(page, /class="warning"/)
    assert.match(page, warning)
    assert.not.match(page, '<h2>Proportions')
  })
}

test('has a warning only while it contradicts its diamond', async (given) => {
  const { ann } = given
  const { id } = await created(ann, { carat: 0.75, cutShape: 'Oval', access: 2, dataAccess: 2 })
  const before = await created(ann)
  assert.ok(before)
  await attachAndRead(given, id, 'gia')
  const wrong = await firstCertification(given, id)
  assert.is(wrong.one.warnings?.length, 2)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { carat: 0.73 }))
  assert.is((await firstCertification(given, id)).one.warnings?.length, 1)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { cutShape: 'Round' }))
  assert.is((await firstCertification(given, id)).one.warnings, undefined)
  assert.match((await given.service.send({ path: `/diamond/${id}` })).text, '<h2>Proportions')
})

test('with a contradiction changes the ETag for readers, and does not block a change with If-Match', async (given) => {
  const { ann, service } = given
  const { id } = await created(ann, { carat: 0.75 })
  await until('its scores', async () => (await service.installation.store.readStream(`scores-${id}`)).length > 0)
  const parts = [text('product', id), text('laboratory', 'GIA'), file(fixture(reportNamed('gia').file))]
  expect(201, await upload(ann, parts))
  const seen: { etag: string; body: string }[] = []
  await until('the warning', async () => {
    const response = expect(200, await ann.get(`/v4/diamond/${id}`))
    seen.push({ etag: String(response.headers.etag), body: response.text })
    return response.text.includes('"warnings"')
  })
  for (const { etag, body } of seen) for (const other of seen) assert.is(etag === other.etag, body === other.body)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 1 }, { 'If-Match': String(seen[0]?.etag) }))
})

test('with a contradiction does not affect the scores until it is resolved', async (given) => {
  const { ann, service } = given
  const { store } = service.installation
  const { id } = await created(ann, { isLabGrown: true })
  await attachAndRead(given, id, 'gia')
  const scores = async () => (await store.readStream(`scores-${id}`)).map(({ data }) => data['revision'])
  await until('its first scores', async () => (await scores()).length > 0)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { isLabGrown: false }))
  await until('scores of what was measured', async () => (await scores()).includes(3))
  assert.equal(await scores(), [0, 3])
})

test('with a contradiction can be sent back as it was read, and is counted in the metrics', async (given) => {
  const { ann, service } = given
  const { id } = await created(ann, { carat: 2 })
  await attachAndRead(given, id, 'gia')
  const { one } = await firstCertification(given, id)
  expect(201, await ann.post('/v4/certification', { ...one, product: id }))
  const [, count = '0'] =
    /^adamant_reports_contradicting_total (\d+)/m.exec((await service.send({ path: '/metrics' })).text) ?? []
  assert.ok(Number(count) > 0)
})

for (const [report, number] of [
  ['igi', '586382711'],
  ['igi', 'IGI LG586382711'],
  ['gia', 'GIA 2136 273 512'],
] as const) {
  test(`with the number ${number}, which its PDF writes in another way, has no warning`, async (given) => {
    const { id } = await created(given.ann, report === 'igi' ? { carat: 1.01, isLabGrown: true } : {})
    await attachAndRead(given, id, report, { number })
    assert.is((await firstCertification(given, id)).one.warnings, undefined)
  })
}

test('without a contradiction has no warning', async (given) => {
  const { id } = await created(given.ann)
  await attachAndRead(given, id, 'gia')
  assert.is((await firstCertification(given, id)).one.warnings, undefined)
})

test.run()
