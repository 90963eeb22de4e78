import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { LiveDiamond } from '../../../src/domain/diamond/diamond.ts'
import { withDefaults } from '../../../src/domain/diamond/fields.ts'
import type { Scores } from '../../../src/optics/scores.ts'
import { fromDocument, toDocument } from '../../../src/projections/diamonds/diamond-document.ts'
import { applyEvent, type DiamondView } from '../../../src/projections/diamonds/diamond-view.ts'
import { toScoresJson } from '../../../src/representations/diamond/scores-json.ts'
import type { StoredEvent } from '../../../src/stores/ports/event-store.ts'

const test = suite("a diamond's document")

/** Texts that resemble the JSON around the scores. */
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
const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })

const scores: fc.Arbitrary<Scores> = fc.record({
  integral: nullable(fc.record({ val: number, rg: number, d: number, ver: hostile })),
  spread: nullable(fc.record({ ct: number, pc: number, d: number, ver: hostile })),
  fire: nullable(fc.record({ val: number, rg: number, d: number, ver: hostile })),
  brilliance: nullable(fc.record({ val: number, rg: number, d: number, faceup: number, avg: number, ver: hostile })),
  fluor: nullable(
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
  symmetry: nullable(fc.record({ val: number, pav: number, crown: number, d: number, ver: hostile })),
})

const diamond: fc.Arbitrary<LiveDiamond> = fc.record({
  status: fc.constant('live' as const),
  id: fc.integer({ min: 1 }),
  owner: fc.integer({ min: 1 }),
  date: fc.integer({ min: 0, max: 4_000_000_000 }),
  fields: fc
    .record({ sku: hostile, cutShape: fc.oneof(fc.constant(2), hostile), access: fc.constantFrom(0, 2) })
    .map((fields) => withDefaults({ carat: 1, ...fields })),
  certifications: fc.constant([]),
  serviceEventsSinceOwnerChange: fc.integer({ min: 0, max: 2 }),
  warningsSinceOwnerChange: fc.integer({ min: 0, max: 2 }),
  accessRevisions: fc.record({ access: fc.nat({ max: 2 }), dataAccess: fc.nat({ max: 2 }) }),
})

const revision = fc.integer({ min: 1, max: 5 })
const views: fc.Arbitrary<DiamondView> = fc
  .record({
    diamond,
    revision,
    stoneRevision: revision,
    scores: nullable(scores.map((known) => toScoresJson('v4', known))),
    scoresRevision: fc.integer({ min: -1, max: 5 }),
    changedAt: fc.nat(),
  })
  .map((view) => JSON.parse(JSON.stringify(view)) as DiamondView)

test('converts back to the same view', () => {
  fc.assert(fc.property(views, (view) => assert.equal(fromDocument(toDocument(view)), view)))
})

const stored = (event: Partial<StoredEvent>): StoredEvent => ({
  id: '0',
  stream: 'scores-1',
  revision: 0n,
  type: 'DiamondScored',
  data: {},
  metadata: { at: '2026-01-01T00:00:00.000Z', schema: '1' },
  position: { commit: 9n, prepare: 9n },
  ...event,
})

test('takes scores of the current stone, and ignores repeated ones and those of an older revision', () => {
  fc.assert(
    fc.property(views, scores, (view, fresh) => {
      const next = BigInt(view.scoresRevision + 1)
      const of = (revision: number) => ({ id: view.diamond.id, revision, scores: fresh })
      const scored = applyEvent(view, stored({ revision: next, data: of(view.stoneRevision) }))
      const changedAt = Date.parse('2026-01-01T00:00:00.000Z')
      assert.equal(scored, { ...view, scores: toScoresJson('v4', fresh), scoresRevision: Number(next), changedAt })
      assert.is(applyEvent(view, stored({ revision: next, data: of(view.stoneRevision - 1) })), view)
      // An event that was applied before is not parsed: its data may be invalid.
      if (next > 0n) assert.is(applyEvent(view, stored({ revision: next - 1n, data: {} })), view)
    }),
  )
})

test.run()
