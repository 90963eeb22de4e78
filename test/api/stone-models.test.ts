import * as assert from 'uvu/assert'
import type { Scores } from '../../src/optics/scores.ts'
import { attached, file, pathOf, smallPdf, text } from './harness/form.ts'
import { attachModel, model, modelFile, sendModel } from './harness/models.ts'
import { expect, refusal, type ApiResponse } from './harness/request.ts'
import type { Vendor } from './harness/account.ts'
import { apiSuite, type Service } from './harness/service.ts'
import { created, list, shown } from './harness/stones.ts'
import { isStored } from './harness/stored-files.ts'
import { until } from '../until.ts'

const test = apiSuite('the 3D model of a diamond', { scored: true })

const ROUND = modelFile('Round', 'Excellent', 1.2)

/**
 * Waits until the garbage collector has deleted an unused file; a file that was due earlier would have been deleted before it.
 * @param other bytes of a model that nothing else uses
 */
async function untilCollected(ann: Vendor, service: Service, other: Buffer): Promise<void> {
  const { id } = await created(ann)
  expect(201, await attachModel(ann, id, other))
  expect(204, await ann.remove(`/v4/diamond/${id}/model`))
  await until('the deletion of an unused file', async () => !(await isStored(service, other)))
}

const scoresIn = (response: ApiResponse) => shown(response)['scores'] as Scores
const isScored = (scores: Scores) => scores.brilliance !== null

for (const [writing, format] of [
  ['OFF', 'OFF'],
  ['text STL', 'STL'],
  ['binary STL', 'STL'],
  ['OBJ', 'OBJ'],
] as const) {
  test(`is accepted as ${writing} and returned with its weight and measurements`, async ({ ann, service }) => {
    const { id } = await created(ann, { carat: 1.2 })
    const response = expect(201, await attachModel(ann, id, modelFile('Round', 'Excellent', 1.2, writing)))
    const attachedNow = model(response)
    assert.is(attachedNow.format, format)
    assert.ok(Math.abs(attachedNow.carat - 1.2) < 0.002, `${attachedNow.carat} ct`)
    const { length, width, depth } = attachedNow.measurements
    assert.ok(length >= width && width > 6.5 && length < 7.1 && depth > 3.8 && depth < 4.5, response.text)
    assert.equal(attachedNow.warnings, [])
    assert.is(response.headers.location, `${service.url}/v4/diamond/${id}/model`)
    const { file: link, ...read } = model(expect(200, await ann.get(`/v4/diamond/${id}/model`)))
    assert.equal(read, attachedNow)
    const bytes = expect(200, await service.send({ path: pathOf(link ?? '') }))
    assert.is(bytes.headers['content-disposition'], `inline; filename="diamond-${id}.${format.toLowerCase()}"`)
  })
}

test('determines the scores until it is removed', async ({ ann }) => {
  const { id } = await created(ann, { cutShape: 'Round', carat: 1.2, cutQuality: 'Poor' })
  const scores = async () => scoresIn(await ann.get(`/v4/diamond/${id}`))
  await until('scores of its grade', async () => isScored(await scores()))
  const ofGrade = await scores()
  expect(201, await attachModel(ann, id, ROUND))
  await until('scores of its facets', async () => isScored(await scores()))
  const own = await scores()
  assert.ok(ofGrade.brilliance && own.brilliance && own.fire && own.symmetry && own.spread)
  assert.ok(own.brilliance.rg > ofGrade.brilliance.rg, 'an Excellent cut shines more than a Poor one')
  // Relative to the score, because the score of a Poor cut is so low that its absolute uncertainty is small too.
  const part = ({ d, rg }: { readonly d: number; readonly rg: number }) => d / rg
  assert.ok(part(own.brilliance) < part(ofGrade.brilliance), 'and its relative uncertainty is smaller')
  expect(204, await ann.remove(`/v4/diamond/${id}/model`))
  await until('scores of its grade again', async () => isScored(await scores()))
  assert.equal(await scores(), ofGrade)
})

test('gives scores to a shape that has none by default', async ({ ann }) => {
  const { id } = await created(ann, { cutShape: 'my own', carat: 1.2 })
  expect(201, await attachModel(ann, id, modelFile('Princess', 'Very Good', 1.2)))
  const scores = async () => scoresIn(await ann.get(`/v4/diamond/${id}`))
  await until('scores', async () => isScored(await scores()))
  const { brilliance, fire, symmetry } = await scores()
  assert.ok(brilliance && fire)
  assert.is(symmetry, null, 'the intended positions of its facets are unknown')
})

test('returns a warning if its weight differs by more than 2%', async ({ ann }) => {
  const { id } = await created(ann, { carat: 1.23 })
  const { warnings, carat } = model(expect(201, await attachModel(ann, id, ROUND)))
  assert.equal(warnings, [`The model's volume is that of a diamond of ${carat} carats, not of 1.23`])
  expect(200, await ann.patch(`/v4/diamond/${id}`, { carat: 1.21 }))
  assert.equal(model(await ann.get(`/v4/diamond/${id}/model`)).warnings, [])
})

test('replaces the previous one', async ({ ann, service }) => {
  const { id } = await created(ann)
  const other = modelFile('Princess', 'Good', 1.2)
  expect(201, await attachModel(ann, id, ROUND))
  expect(201, await attachModel(ann, id, other))
  const { measurements } = model(expect(200, await ann.get(`/v4/diamond/${id}/model`)))
  assert.ok(measurements.length < 6.5, 'a princess is smaller than a round of its weight')
  assert.ok(await isStored(service, other))
  const events = await service.installation.store.readStream(`diamond-${id}`)
  assert.equal(
    events.map(({ type }) => type),
    ['DiamondCreated', 'StoneModelAttached', 'StoneModelRemoved', 'StoneModelAttached'],
  )
})

test('is deleted with its file when it or its diamond is removed, unless another diamond uses the same file', async ({
  ann,
  service,
}) => {
  const bytes = modelFile('Oval', 'Good', 0.9)
  const [one, other] = [await created(ann), await created(ann)]
  expect(201, await attachModel(ann, one.id, bytes))
  expect(201, await attachModel(ann, other.id, bytes))
  expect(204, await ann.remove(`/v4/diamond/${one.id}/model`))
  refusal(404, await ann.get(`/v4/diamond/${one.id}/model`))
  refusal(404, await ann.remove(`/v4/diamond/${one.id}/model`))
  await untilCollected(ann, service, modelFile('Oval', 'Very Good', 0.9))
  assert.ok(await isStored(service, bytes))
  expect(204, await ann.remove(`/v4/diamond/${other.id}`))
  await until('the deletion of the file', async () => !(await isStored(service, bytes)))
})

test('that is rejected does not delete a file that a certification uses', async ({ ann, service }) => {
  const { id } = await created(ann)
  const pdf = smallPdf()
  await attached(ann, id, pdf)
  refusal(422, await attachModel(ann, id, pdf))
  await untilCollected(ann, service, modelFile('Oval', 'Excellent', 0.9))
  assert.ok(await isStored(service, pdf))
})

test('is accessible only to its owner', async ({ ann, bob, service }) => {
  const { id } = await created(ann, { access: 2, dataAccess: 2 })
  refusal(403, await attachModel(bob, id, ROUND))
  expect(201, await attachModel(ann, id, ROUND))
  refusal(403, await bob.get(`/v4/diamond/${id}/model`))
  refusal(403, await bob.remove(`/v4/diamond/${id}/model`))
  refusal(401, await service.send({ path: `/v4/diamond/${id}/model` }))
  refusal(404, await service.send({ path: `/v4/diamond/${id}/model/file` }))
})

test('has a link that is revoked by a change of access', async ({ ann, service }) => {
  const { id } = await created(ann)
  expect(201, await attachModel(ann, id, ROUND))
  const link = pathOf(model(await ann.get(`/v4/diamond/${id}/model`)).file ?? '')
  const whole = expect(200, await service.send({ path: link }))
  assert.is(Number(whole.headers['content-length']), ROUND.length)
  expect(206, await service.send({ path: link, headers: { Range: 'bytes=0-2' } }))
  refusal(416, await service.send({ path: link, headers: { Range: `bytes=${ROUND.length}-` } }))
  const etag = whole.headers.etag ?? ''
  expect(304, await service.send({ path: link, headers: { 'If-None-Match': etag } }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { dataAccess: 2 }))
  refusal(404, await service.send({ path: link }))
})

const TETRAHEDRON = ['OFF', '4 4 0', '0 0 0', '3 0 0', '0 3 0', '0 0 3', '3 0 2 1', '3 0 1 3', '3 0 3 2', '3 1 2 3']
const WRONG: readonly (readonly [what: string, bytes: string, says: RegExp])[] = [
  ['empty', '', /empty/],
  ['not a 3D file', 'a letter to my mother', /OFF.*STL.*OBJ/],
  ['open', [...TETRAHEDRON.slice(0, 1), '4 3 0', ...TETRAHEDRON.slice(2, 9)].join('\n'), /open|facet/],
  ['truncated', TETRAHEDRON.slice(0, 8).join('\n'), /facet|line/],
]
for (const [description, bytes, message] of WRONG) {
  test(`is rejected if it is ${description}, with the reason`, async ({ ann }) => {
    const { id } = await created(ann)
    const response = await attachModel(ann, id, bytes)
    refusal(422, response)
    assert.match(response.text, message)
    refusal(404, await ann.get(`/v4/diamond/${id}/model`))
  })
}

test('is uploaded as a form with one file and nothing else', async ({ ann }) => {
  const { id } = await created(ann)
  refusal(415, await ann.post(`/v4/diamond/${id}/model`, {}))
  refusal(422, await sendModel(ann, id, []))
  refusal(422, await sendModel(ann, id, [text('file', 'OFF')]))
  refusal(422, await sendModel(ann, id, [file(ROUND), text('name', 'mine')]))
  refusal(413, await attachModel(ann, id, Buffer.alloc(20 * 1024 * 1024 + 1, 0x20)))
  refusal(404, await attachModel(ann, 987_654_321, ROUND))
})

test('appears in the history, and as new scores in the feed of changes', async ({ ann }) => {
  const { id } = await created(ann)
  const { next } = (await ann.get('/v4/diamond/changes?after=now')).json() as { next: string }
  expect(201, await attachModel(ann, id, ROUND))
  expect(204, await ann.remove(`/v4/diamond/${id}/model`))
  const entries = list(await ann.get(`/v4/diamond/${id}/history`)) as unknown as {
    type: string
    changes: { field: string }[]
  }[]
  const own = entries.filter(({ type }) => type === 'modelled' || type === 'unmodelled')
  assert.equal(
    own.map(({ type, changes }) => [type, changes.some(({ field }) => field === 'model')]),
    [
      ['modelled', true],
      ['unmodelled', true],
    ],
  )
  const { changes } = (await ann.get(`/v4/diamond/changes?after=${next}`)).json() as {
    changes: { id: number; what: string[] }[]
  }
  // Other stones of this suite may be scored meanwhile.
  const ofIt = changes.filter(({ id: of }) => of === id)
  assert.equal(
    ofIt.map(({ what }) => what),
    [['scores']],
  )
})

test.run()
