import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { LiveDiamond } from '../../../src/domain/diamond/diamond.ts'
import { completed } from '../../../src/domain/diamond/fields.ts'
import type { Scores } from '../../../src/domain/diamond/scores.ts'
import { fromDocument, toDocument, withScores } from '../../../src/projections/diamonds/diamond-document.ts'
import type { DiamondView } from '../../../src/projections/diamonds/diamond-view.ts'

const test = suite("a diamond's document")

/** Texts that look like what stands around the scores. */
const hostile = fc.oneof(
  fc.anyText({ minLength: 1, maxLength: 40 }),
  fc.constantFrom(
    '"scores":',
    ',"_links":[',
    ',"revision":7',
    '\\"scores\\":{',
    '\\',
    '","scores":{"integral":null},"_links":',
  ),
)
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })

const scores: fc.Arbitrary<Scores> = fc.record({
  integral: maybe(fc.record({ val: number, rg: number, d: number, ver: hostile })),
  spread: maybe(fc.record({ ct: number, pc: number, d: number, ver: hostile })),
  fire: maybe(fc.record({ val: number, rg: number, d: number, ver: hostile })),
  brilliance: maybe(fc.record({ val: number, rg: number, d: number, faceup: number, avg: number, ver: hostile })),
  fluor: maybe(
    fc.record({
      n: number,
      f: number,
      m: number,
      s: number,
      vs: number,
      color: number,
      colorCode: hostile,
      ver: hostile,
    }),
  ),
  symmetry: maybe(fc.record({ val: number, pav: number, crown: number, d: number, ver: hostile })),
})

const diamond: fc.Arbitrary<LiveDiamond> = fc.record({
  status: fc.constant('live' as const),
  id: fc.integer({ min: 1 }),
  owner: fc.integer({ min: 1 }),
  date: fc.integer({ min: 0, max: 4_000_000_000 }),
  fields: fc
    .record({ sku: hostile, cutShape: fc.oneof(fc.constant(2), hostile), access: fc.constantFrom(0, 2) })
    .map((fields) => completed({ carat: 1, ...fields })),
  certifications: fc.constant([]),
  readingsBehind: fc.integer({ min: 0, max: 2 }),
  warningsBehind: fc.integer({ min: 0, max: 2 }),
  accessRevisions: fc.record({ access: fc.nat({ max: 2 }), dataAccess: fc.nat({ max: 2 }) }),
})

const revision = fc.integer({ min: 2, max: 5 })
const views: fc.Arbitrary<DiamondView> = fc
  .record({
    diamond,
    revision,
    stoneRevision: revision,
    scores: maybe(scores),
    scoresRevision: fc.integer({ min: -1, max: 5 }),
    changedAt: fc.nat(),
  })
  .map((view) => JSON.parse(JSON.stringify(view)) as DiamondView)

test('with new scores is as it would be made anew', () => {
  fc.assert(
    fc.property(views, scores, fc.nat({ max: 3 }), fc.nat(), (view, fresh, later, at) => {
      const scoresRevision = view.scoresRevision + 1 + later
      const scored = () => ({ id: 1, revision: view.stoneRevision, scores: fresh })
      const amended = withScores(toDocument(view), { scoresRevision, changedAt: at, scored })
      assert.equal(amended, toDocument({ ...view, scores: fresh, scoresRevision, changedAt: at }))
    }),
  )
})

test('gives back the view that it was made of', () => {
  fc.assert(
    fc.property(views, (view) => {
      const scores =
        view.scores !== null && Object.values(view.scores).every((one) => one === null) ? null : view.scores
      assert.equal(fromDocument(toDocument(view)), { ...view, scores })
    }),
  )
})

const [view] = fc.sample(views, { numRuns: 1, seed: 1 })
const [fresh] = fc.sample(scores, { numRuns: 1, seed: 2 })
if (view === undefined || fresh === undefined) throw new Error('nothing was generated')

test('stays as it is where scores are of an older stone, or known', () => {
  const document = toDocument(view)
  const older = () => ({ id: 1, revision: view.stoneRevision - 1, scores: fresh })
  assert.is(withScores(document, { scoresRevision: view.scoresRevision + 1, changedAt: 0, scored: older }), document)
  const notAsked = (): never => assert.unreachable('they are known') as never
  assert.is(withScores(document, { scoresRevision: view.scoresRevision, changedAt: 0, scored: notAsked }), document)
})

test.run()
