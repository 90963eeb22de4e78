import * as assert from 'uvu/assert'
import { layoutNamed } from '../../fixtures/reports/layouts.ts'
import { onPaper } from '../../fixtures/reports/paper.ts'
import { attached } from '../harness/form.ts'
import { attachModel, modelFile } from '../harness/models.ts'
import { expect } from '../harness/request.ts'
import { untilEtag } from '../harness/scored.ts'
import { apiSuite, type Service } from '../harness/service.ts'
import { created } from '../harness/stones.ts'

const test = apiSuite('a report page', { scored: true })

const pageOf = async (service: Service, id: number) => {
  const { text } = expect(200, await service.send({ path: `/diamond/${id}` }))
  return text.replaceAll(/\s+/g, ' ')
}

/** The number of occurrences of each mark on a page. */
function countMarks(page: string): Record<string, number> {
  const found: Record<string, number> = {}
  for (const [, name = ''] of page.matchAll(/class="basis \w+">([^<]*)</g)) found[name] = (found[name] ?? 0) + 1
  return found
}

/** Marked on a page: integral, brilliance, fire, symmetry, spread and three pictures. */
const ALL = 8

test('marks every score and picture as typical of a shape or of a grade', async ({ ann, service }) => {
  const ungraded = await created(ann, { cutShape: 'Oval', access: 2 })
  await untilEtag(ann, ungraded.id, '"0.1"')
  assert.equal(countMarks(await pageOf(service, ungraded.id)), { 'Typical of its shape': ALL })
  const graded = await created(ann, { cutQuality: 'Good', access: 2 })
  await untilEtag(ann, graded.id, '"0.1"')
  assert.equal(countMarks(await pageOf(service, graded.id)), { 'Typical of its grade': ALL })
})

for (const [dataAccess, pictures, showsMeasurements] of [
  [0, 'Typical of its shape', false],
  [1, 'Typical of its shape', true],
  [2, 'From its report', true],
] as const) {
  test(`shows and draws measurements as dataAccess ${dataAccess} allows`, async ({ ann, service }) => {
    const { lines, expected } = layoutNamed("GIA's of a fancy")
    const stone = { cutShape: 'Oval', carat: 1.02, symmetry: 'Very Good', access: 2, dataAccess }
    const { id } = await created(ann, stone)
    await untilEtag(ann, id, '"0.1"')
    await attached(ann, id, await onPaper(lines), expected.number ?? '')
    await untilEtag(ann, id, '"1.2"')
    const page = await pageOf(service, id)
    // Of the proportions: one if they are shown.
    const marks = 4 + (showsMeasurements ? 1 : 0)
    const measured = { 'From its report': pictures === 'From its report' ? marks + 3 : marks }
    const others = pictures === 'From its report' ? {} : { [pictures]: 3 }
    assert.equal(countMarks(page), { ...measured, ...others, 'From its symmetry grade': 1 })
    assert.is(page.includes('measured its table, depth and length to width'), showsMeasurements)
    assert.is(page.includes('8.01 × 5.92 × 3.61 mm'), showsMeasurements)
    assert.is(page.includes('<figure class="profile">'), showsMeasurements)
    assert.not.match(page, 'crown angle')
  })
}

for (const [dataAccess, shown] of [
  [1, { 'From its own facets': 5, 'Typical of its grade': 3 }],
  [2, { 'From its own facets': ALL }],
] as const) {
  test(`marks scores traced from the facets of the stone, and draws the facets as dataAccess ${dataAccess} allows`, async ({
    ann,
    service,
  }) => {
    const { id } = await created(ann, { carat: 1.2, cutQuality: 'Poor', access: 2, dataAccess })
    const picture = async () => expect(200, await service.send({ path: `/diamond/${id}/aset.png` })).headers.etag
    const before = await picture()
    await untilEtag(ann, id, '"0.1"')
    expect(201, await attachModel(ann, id, modelFile('Round', 'Ideal', 1.2)))
    await untilEtag(ann, id, '"1.2"')
    const page = await pageOf(service, id)
    assert.equal(countMarks(page), shown)
    assert.match(page, 'this stone was scanned')
    assert.is((await picture()) === before, dataAccess === 1)
    assert.is(page.includes('traced from its own 3D file'), dataAccess === 2)
  })
}

test('calls a spread within its accuracy about as large as a well-cut round', async ({ ann, service }) => {
  const typical = await created(ann, { cutQuality: 'Excellent', access: 2 })
  await untilEtag(ann, typical.id, '"0.1"')
  assert.match(
    await pageOf(service, typical.id),
    /% ± \d\.\d\)<.*From above it looks about as large as a well-cut round/,
  )
  const flat = await created(ann, { proportions: { length: 6.9, width: 6.9 }, carat: 0.9, access: 2 })
  await untilEtag(ann, flat.id, '"0.1"')
  assert.match(await pageOf(service, flat.id), /From above it looks larger than a well-cut round/)
})

test('names laboratory-grown origin and fancy colour in its headline', async ({ ann, service }) => {
  const titleOf = async (fields: object) => {
    const { id } = await created(ann, { carat: 1.2, access: 2, ...fields })
    return /<h1>(.*?)<\/h1>/.exec(await pageOf(service, id))?.[1]
  }
  assert.is(await titleOf({}), '1.20 ct Round diamond')
  assert.is(await titleOf({ isLabGrown: true, carat: 1.041 }), '1.041 ct Round laboratory-grown diamond')
  const fancy = { fancyGrade: 'Fancy Vivid', colorHue: 'Yellow', isColored: true }
  assert.is(await titleOf({ ...fancy, isLabGrown: true }), '1.20 ct Round fancy vivid yellow laboratory-grown diamond')
})

test('shows a report number that changes with its content, its date, issuer and address', async ({ ann, service }) => {
  const { id } = await created(ann, { cutQuality: 'Good', carat: 1.2, access: 2 })
  await untilEtag(ann, id, '"0.1"')
  const footer = async () => /<footer.*<\/footer>/.exec(await pageOf(service, id))?.[0] ?? ''
  const first = await footer()
  assert.match(first, `Report ${id}-0.1 of 20`)
  assert.match(first, / of \d{4}-\d\d-\d\d, issued by/)
  assert.match(first, `/diamond/${id}<`)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { color: 'F' }))
  assert.match(await footer(), `Report ${id}-1.1 of 20`)
})

test('distinguishes the grade of a laboratory from its own scale', async ({ ann, service }) => {
  const { id } = await created(ann, { cutQuality: 'Excellent', carat: 1.2, access: 2 })
  await untilEtag(ann, id, '"0.1"')
  const page = await pageOf(service, id)
  assert.match(page, /<dt>Cut grade<\/dt> <dd>Excellent<\/dd>/)
  assert.match(page, 'Cut grade Excellent · cut performance')
  assert.match(page, "on this page's scale")
  assert.match(page, 'On this scale: <strong>')
  assert.match(page, '<dd>1.20 ct</dd>')
})

test.run()
