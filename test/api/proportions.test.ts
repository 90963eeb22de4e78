import * as assert from 'uvu/assert'
import type { Scores } from '../../src/optics/scores.ts'
import { layoutNamed } from '../fixtures/reports/layouts.ts'
import { onPaper } from '../fixtures/reports/paper.ts'
import { readChanges } from './harness/feed.ts'
import { attached } from './harness/form.ts'
import { expect, pointers, refusal, type ApiResponse } from './harness/request.ts'
import { untilEtag } from './harness/scored.ts'
import { apiSuite } from './harness/service.ts'
import { created, expectNoChange, shown, type Shown } from './harness/stones.ts'

const test = apiSuite('the proportions of a diamond', { scored: true })

const ROUND = { cutQuality: 'Good', carat: 1.01, access: 2, dataAccess: 2 }
const STATED = { table: 57, depth: 61.9, crownAngle: 34.5, pavilionAngle: 40.8 }
const scoresIn = (response: ApiResponse) => shown(response)['scores'] as Scores
const proportionsIn = (response: ApiResponse) => shown(response)['proportions']

test('are absent until they are set, and stay absent after null and empty objects', async ({ ann }) => {
  for (const proportions of [undefined, null, {}, { table: null }]) {
    const stone = await created(ann, { proportions })
    assert.not.ok('proportions' in stone || 'proportionWarnings' in stone)
    await untilEtag(ann, stone.id, '"0.1"')
    const response = expect(200, await ann.patch(`/v4/diamond/${stone.id}`, { proportions }))
    assert.is(response.headers.etag, '"0.1"')
  }
})

test('appear in answers to create, bulk, modify and read as they were sent, in one order', async ({ ann }) => {
  const all = {
    length: 6.44,
    width: 6.41,
    height: 3.98,
    table: 57,
    depth: 61.9,
    girdle: 3.5,
    crownHeight: 15,
    pavilionDepth: 43,
    star: 50,
    lower: 80,
    crownAngle: 34.5,
    pavilionAngle: 40.8,
  }
  const reversed = Object.fromEntries(Object.entries(all).toReversed())
  const stone = await created(ann, { ...ROUND, proportions: reversed })
  assert.is(JSON.stringify(stone['proportions']), JSON.stringify(all))
  const entries = [{ ...ROUND, sku: 'A-1', cutShape: 'Round', proportions: all }]
  const [one] = expect(201, await ann.post('/v4/diamond/bulk', { entries })).json() as Shown[]
  assert.equal(one?.['proportions'], all)
  assert.equal(proportionsIn(await ann.get(`/v4/diamond/${stone.id}`)), all)
})

test('change by member: a modify replaces those it names, null removes one, and null for the object removes all', async ({
  ann,
}) => {
  const { id } = await created(ann, { ...ROUND, proportions: STATED })
  const change = async (proportions: unknown) =>
    proportionsIn(expect(200, await ann.patch(`/v4/diamond/${id}`, { proportions })))
  assert.equal(await change({ table: 58, star: 50 }), { ...STATED, table: 58, star: 50 })
  assert.equal(await change({ table: null, depth: null }), { star: 50, crownAngle: 34.5, pavilionAngle: 40.8 })
  assert.is(await change(null), undefined)
  const entries = [{ id, proportions: { lower: 75 } }]
  const [one] = expect(
    200,
    await ann.send({ method: 'PUT', path: '/v4/diamond/bulk', json: { entries } }),
  ).json() as Shown[]
  assert.equal(one?.['proportions'], { lower: 75 })
})

test('that are out of range, no numbers or unknown are refused with their pointer, and change nothing', async ({
  service,
}) => {
  const ann = await service.newVendor()
  const { id } = await created(ann, { ...ROUND, proportions: STATED })
  await untilEtag(ann, id, '"0.1"')
  await expectNoChange([ann], async () => {
    const proportions = { table: '57', depth: 5, length: 0, crownAngle: 34.5, tabel: 57 }
    const response = await ann.patch(`/v4/diamond/${id}`, { proportions })
    assert.equal(
      pointers(refusal(422, response)),
      ['depth', 'length', 'tabel', 'table'].map((name) => `/proportions/${name}`),
    )
    assert.match(response.text, 'proportions.depth must be a number of at least 30 and at most 110, got 5')
    assert.match(response.text, 'tabel is not a field of proportions; did you mean proportions.table?')
    const whole = await ann.patch(`/v4/diamond/${id}`, { proportions: [57] })
    assert.equal(pointers(refusal(422, whole)), ['/proportions'])
    const outside = refusal(422, await ann.patch(`/v4/diamond/${id}`, { table: 57 }))
    assert.equal(outside.error, ['table is not a field of a v4 diamond; did you mean proportions.table?'])
    const tradeNames = { weight: 1, 'Stock #': 'B', girdleThickness: 'Thin' }
    const tradeName = refusal(422, await ann.patch(`/v4/diamond/${id}`, tradeNames))
    assert.equal(tradeName.error, [
      'weight is not a field of a v4 diamond; did you mean carat?',
      'Stock # is not a field of a v4 diamond; did you mean sku?',
      'girdleThickness is not a field of a v4 diamond; did you mean girdle?',
    ])
  })
})

test('are unknown to v3, which neither shows nor changes them', async ({ ann }) => {
  const { id } = await created(ann, { ...ROUND, proportions: STATED })
  refusal(422, await ann.patch(`/v3/diamond/${id}`, { proportions: STATED }))
  const body = shown(await ann.get(`/v3/diamond/${id}`))
  assert.not.ok('proportions' in body || 'proportionWarnings' in body)
  expect(200, await ann.patch(`/v3/diamond/${id}`, { ...body, price: 7 }))
  assert.equal(proportionsIn(await ann.get(`/v4/diamond/${id}`)), STATED)
})

test('that were read can be sent back, with their warnings', async ({ ann }) => {
  const { id } = await created(ann, { ...ROUND, proportions: { depth: 60, crownHeight: 55 } })
  const before = shown(await ann.get(`/v4/diamond/${id}`))
  assert.is((before['proportionWarnings'] as string[]).length, 1)
  const after = expect(200, await ann.send({ method: 'PUT', path: `/v4/diamond/${id}`, json: before }))
  assert.is(after.headers.etag?.startsWith('"0.'), true)
})

test('make scores as certain as a report with the same figures does, and the typical scores return without them', async ({
  ann,
}) => {
  const { id } = await created(ann, ROUND)
  const typical = scoresIn(await untilEtag(ann, id, '"0.1"'))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { proportions: STATED }))
  const stated = scoresIn(await untilEtag(ann, id, '"1.2"'))
  assert.ok((stated.integral?.d ?? 1) <= 0.06, String(stated.integral?.d))
  assert.ok((typical.integral?.d ?? 0) > 0.1)
  assert.not.equal(stated.brilliance, typical.brilliance)
  const heights = { ...STATED, crownAngle: null, crownHeight: 14.8, pavilionAngle: null, pavilionDepth: 43.2 }
  expect(200, await ann.patch(`/v4/diamond/${id}`, { proportions: heights }))
  const byHeights = scoresIn(await untilEtag(ann, id, '"2.3"'))
  assert.equal(byHeights.integral, stated.integral)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { proportions: null }))
  assert.equal(scoresIn(await untilEtag(ann, id, '"3.4"')), typical)
})

test('that contradict each other are stored and not used, with a warning that ends when they agree', async ({
  ann,
}) => {
  const { id } = await created(ann, ROUND)
  const typical = scoresIn(await untilEtag(ann, id, '"0.1"'))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { proportions: { ...STATED, girdle: 3.5, depth: 70 } }))
  const contradicting = await untilEtag(ann, id, '"1.2"')
  assert.equal(shown(contradicting)['proportionWarnings'], [
    'The depth is 70 %, but crown, girdle and pavilion add up to 61.4 %: of these proportions only length and width are used',
  ])
  assert.equal(scoresIn(contradicting), typical)
  assert.equal(proportionsIn(contradicting), { ...STATED, girdle: 3.5, depth: 70 })
  const agreeing = expect(200, await ann.patch(`/v4/diamond/${id}`, { proportions: { depth: 61.5 } }))
  assert.not.ok('proportionWarnings' in shown(agreeing))
})

test('are one line of the history, and a change of fields in the feed', async ({ ann }) => {
  const { next } = await readChanges(ann, '?after=now')
  const { id } = await created(ann, { ...ROUND, proportions: STATED })
  expect(200, await ann.patch(`/v4/diamond/${id}`, { proportions: { table: 70, crownHeight: 30 } }))
  const entries = expect(200, await ann.get(`/v4/diamond/${id}/history`)).json() as {
    type: string
    changes: unknown[]
  }[]
  const proportions = (entry: { changes: unknown[] } | undefined) =>
    entry?.changes.filter((one) => String((one as { field: string }).field).startsWith('proportion'))
  assert.equal(proportions(entries.find(({ type }) => type === 'created')), [
    { field: 'proportions', from: null, to: STATED },
  ])
  assert.equal(proportions(entries.find(({ type }) => type === 'changed')), [
    { field: 'proportions', from: STATED, to: { ...STATED, table: 70, crownHeight: 30 } },
  ])
  const { changes } = await readChanges(ann, `?after=${next}`)
  const own = changes.find((one) => one.id === id)
  assert.equal(own?.diamond?.['proportions'], { ...STATED, table: 70, crownHeight: 30 })
})

test("in a report count before the owner's, fact by fact, and the certification says where they disagree", async ({
  ann,
  service,
}) => {
  const { lines, expected } = layoutNamed("GIA's of a fancy")
  const proportions = { table: 70, crownAngle: 35, height: 3.62, length: 8.01, width: 5.92 }
  const oval = { cutShape: 'Oval', carat: 1.02, access: 2, dataAccess: 2, proportions }
  const { id } = await created(ann, oval)
  await untilEtag(ann, id, '"0.1"')
  await attached(ann, id, await onPaper(lines), expected.number ?? '')
  const certified = await untilEtag(ann, id, '"1.3"')
  const [certification] = shown(certified)['certifications'] as { warnings?: string[] }[]
  assert.equal(certification?.warnings, ['The report has a table of 60 %, but the vendor states 70 %'])
  const page = (await service.send({ path: `/diamond/${id}` })).text.replaceAll(/\s+/g, ' ')
  assert.match(
    page,
    'a laboratory measured its table, depth and length to width and its vendor states its crown angle; all other',
  )
  assert.match(page, /From its report<\/span><\/p>.*<dt>Table<\/dt> <dd>60 %<\/dd>/)
  assert.match(
    page,
    /From its vendor's figures<\/span><\/p> <dl> <div> <dt>Crown angle<\/dt> <dd>35°<\/dd> <\/div> <\/dl>/,
  )
  assert.not.match(page, '70 %</dd>')
})

test("on the report page are marked as the vendor's, and no laboratory is said to have measured them", async ({
  ann,
  service,
}) => {
  const { id } = await created(ann, { ...ROUND, proportions: STATED })
  await untilEtag(ann, id, '"0.1"')
  const page = (await service.send({ path: `/diamond/${id}` })).text.replaceAll(/\s+/g, ' ')
  assert.match(page, 'class="basis stated">From its vendor\'s figures')
  assert.match(
    page,
    'its vendor states its table, depth, crown angle and pavilion angle; all other proportions are typical',
  )
  assert.match(page, 'Figures are stated by the vendor.')
  assert.not.match(page, /laboratory measured|from the laboratory|From its report/)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { dataAccess: 0 }))
  const hidden = (await service.send({ path: `/diamond/${id}` })).text.replaceAll(/\s+/g, ' ')
  assert.not.match(hidden, /crown angle|34\.5/)
  assert.match(hidden, 'its vendor states proportions of this stone')
})

test.run()
