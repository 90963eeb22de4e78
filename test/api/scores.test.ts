import * as assert from 'uvu/assert'
import type { Scores } from '../../src/optics/scores.ts'
import { layoutNamed } from '../fixtures/reports/layouts.ts'
import { onPaper } from '../fixtures/reports/paper.ts'
import { fixture, reportNamed } from '../fixtures/reports/reports.ts'
import { attached } from './harness/form.ts'
import { expect, type ApiResponse } from './harness/request.ts'
import { untilEtag } from './harness/scored.ts'
import { apiSuite, type Service } from './harness/service.ts'
import { created, ownersLink, shown } from './harness/stones.ts'

const test = apiSuite('the scores of a diamond', { scored: true })

const scoresIn = (response: ApiResponse) => shown(response)['scores'] as Scores

const SCORED = { cutQuality: 'Excellent', carat: 1.5, fluorIntensity: 'Faint', fluorColor: 'Blue' }

/** The events of the stream of scores of a diamond. */
const history = (service: Service, id: number) => service.installation.store.readStream(`scores-${id}`)

test('are computed automatically and change the ETag', async ({ ann }) => {
  const stone = await created(ann, SCORED)
  assert.is((stone['scores'] as Scores).integral, null)
  const scores = scoresIn(await untilEtag(ann, stone.id, '"0.1"'))
  assert.ok(Object.values(scores).every((one) => one !== null))
})

test('are the same in the history of the page as above it', async ({ service, ann }) => {
  const stone = await created(ann, { ...SCORED, carat: 0.3 })
  const { fire } = scoresIn(await untilEtag(ann, stone.id, '"0.1"'))
  assert.ok(fire && fire.val < fire.rg)
  const { pathname, search } = await ownersLink(ann, stone.id)
  const { text } = expect(200, await service.send({ path: pathname + search }))
  assert.match(text, `Fire ${fire.rg.toFixed(2)}, plus or minus`)
  assert.match(text, `fire ${fire.val} (${fire.rg} for its size)`)
})

test('are consistent with each other', async ({ ann }) => {
  for (const [cutShape, cutQuality] of [
    ['Round', 'Ideal'],
    ['Marquise', 'Good'],
    ['Heart', 'Very Good'],
  ]) {
    const { id } = await created(ann, { ...SCORED, cutShape, cutQuality })
    const { fire, brilliance, integral, spread, symmetry } = scoresIn(await untilEtag(ann, id, '"0.1"'))
    assert.ok(fire && brilliance && integral && spread && symmetry)
    const round = SCORED.carat + spread.ct
    assert.ok(Math.abs(fire.val - fire.rg * round) <= 0.011, 'fire grows with the weight of the round of equal area')
    assert.is(brilliance.val, brilliance.rg)
    assert.ok(Math.abs(spread.pc - (100 * spread.ct) / round) <= 0.5)
    assert.ok(Math.abs(integral.rg - fire.rg ** 0.2 * brilliance.rg ** 0.8) <= 0.011)
    assert.ok(Math.abs(integral.val - fire.val ** 0.2 * brilliance.val ** 0.8) <= 0.011)
    assert.ok(Math.abs(symmetry.val - (symmetry.pav + symmetry.crown) / 2) <= 0.011)
  }
})

test('have the versions given in the constants', async ({ ann, service }) => {
  const { id } = await created(ann, SCORED)
  const { fire, brilliance, integral, symmetry, fluor } = scoresIn(await untilEtag(ann, id, '"0.1"'))
  const constants = (await service.send({ path: '/v2/constants' })).json() as {
    scoring: Record<string, { ver: string }>
  }
  const named = ['fire', 'brightness', 'integral', 'symmetry', 'fluorescence'].map(
    (name) => constants.scoring[name]?.ver,
  )
  assert.equal([fire?.ver, brilliance?.ver, integral?.ver, symmetry?.ver, fluor?.ver], named)
})

test('show the colour of fluorescence in v4 only', async ({ ann }) => {
  const { id } = await created(ann, SCORED)
  const { fluor } = scoresIn(await untilEtag(ann, id, '"0.1"'))
  assert.equal([fluor?.f, fluor?.color, fluor?.colorCode], [1, 1, 'B'])
  const { fluor: inV3 } = scoresIn(expect(200, await ann.get(`/v3/diamond/${id}`)))
  assert.equal(Object.keys(inV3 ?? {}), ['n', 'f', 'm', 's', 'vs', 'ver'])
})

test('are null for a shape without a model, except for fluorescence', async ({ ann }) => {
  const { id } = await created(ann, { ...SCORED, cutShape: 'Kite' })
  const { fluor, ...others } = scoresIn(await untilEtag(ann, id, '"0.1"'))
  assert.is(fluor?.f, 1)
  assert.equal(Object.values(others), [null, null, null, null, null])
})

test('are recomputed for another weight, and not for another price', async ({ ann, service }) => {
  const { id } = await created(ann, SCORED)
  const first = scoresIn(await untilEtag(ann, id, '"0.1"'))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 77 }))
  assert.equal(scoresIn(await untilEtag(ann, id, '"1.1"')), first)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { carat: 2 }))
  const second = scoresIn(await untilEtag(ann, id, '"2.2"'))
  assert.ok((second.fire?.val ?? 0) > (first.fire?.val ?? 0))
  assert.is(second.fire?.rg, first.fire?.rg)
  const events = await history(service, id)
  assert.equal(
    events.map(({ data }) => data['revision']),
    [0, 2],
  )
  assert.equal(
    events.map(({ metadata: { actor, via } }) => [actor, via]),
    [
      ['scoring', 'projection'],
      ['scoring', 'projection'],
    ],
  )
})

test('use the proportions measured in a report until it is removed', async ({ ann, service }) => {
  const { id } = await created(ann, { ...SCORED, carat: 0.73 })
  const nominal = scoresIn(await untilEtag(ann, id, '"0.1"'))
  const report = await attached(ann, id, fixture(reportNamed('gia').file), '2136273512')
  const measured = scoresIn(await untilEtag(ann, id, '"1.2"'))
  assert.not.equal(measured.spread, nominal.spread)
  assert.not.equal([measured.brilliance, measured.fire], [nominal.brilliance, nominal.fire])
  assert.equal([measured.symmetry, measured.fluor], [nominal.symmetry, nominal.fluor])
  expect(204, await ann.remove(`/v4/certification/${report.id}`))
  assert.equal(scoresIn(await untilEtag(ann, id, '"3.3"')), nominal)
  const events = await history(service, id)
  assert.equal(
    events.map(({ data }) => data['revision']),
    [0, 2, 3],
  )
})

test('use the size, length-to-width ratio, table and depth from a report of a fancy shape', async ({ ann }) => {
  const { lines, expected } = layoutNamed("GIA's of a fancy")
  const { id } = await created(ann, { cutShape: 'Oval', carat: 1.02 })
  const typical = scoresIn(await untilEtag(ann, id, '"0.1"'))
  await attached(ann, id, await onPaper(lines), expected.number ?? '')
  const { spread, fire, brilliance, symmetry } = scoresIn(await untilEtag(ann, id, '"1.2"'))
  assert.ok(spread && fire)
  // An ellipse of 8.01 x 5.92 mm has the area of a circle of the mean geometric diameter.
  const round = (3.67 * (8.01 * 5.92) ** 1.5) / 1000
  assert.ok(Math.abs(spread.ct - (round - 1.02)) < 0.01, `${spread.ct}`)
  assert.ok(Math.abs(fire.val - fire.rg * (1.02 + spread.ct)) <= 0.006)
  assert.not.equal(brilliance, typical.brilliance)
  assert.equal(symmetry, typical.symmetry)
})

test('are unchanged by a report without measurements', async ({ ann, service }) => {
  const { id } = await created(ann, SCORED)
  await untilEtag(ann, id, '"0.1"')
  const report = await attached(ann, id)
  expect(204, await ann.remove(`/v4/certification/${report.id}`))
  // Stones are considered in order: once a later one is scored, the service has processed this one.
  const { id: later } = await created(ann, SCORED)
  await untilEtag(ann, later, '"0.1"')
  await untilEtag(ann, id, '"2.1"')
  assert.is((await history(service, id)).length, 1)
})

test('are traced for a girdle missing from the shipped table, once for all such stones', async ({ ann }) => {
  const first = await created(ann, { ...SCORED, girdle: 'Thick' })
  const second = await created(ann, { ...SCORED, girdle: 'Thick' })
  const plain = await created(ann, SCORED)
  const [one, two, three] = [
    scoresIn(await untilEtag(ann, first.id, '"0.1"')),
    scoresIn(await untilEtag(ann, second.id, '"0.1"')),
    scoresIn(await untilEtag(ann, plain.id, '"0.1"')),
  ]
  assert.equal(one, two)
  assert.not.equal(one.spread, three.spread)
})

test.run()
