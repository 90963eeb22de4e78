import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReportReading } from '../../../src/domain/certification/certification.ts'
import type { DiamondEvent } from '../../../src/domain/diamond/diamond.ts'
import {
  evolveScoring,
  mayInvalidateScores,
  initialScoringState,
  invalidatesScores,
} from '../../../src/domain/diamond/score-basis.ts'

const test = suite('the stone revision')

const CREATED: DiamondEvent = {
  type: 'DiamondCreated',
  data: { id: 1, owner: 7, date: 0, set: { sku: 'A', cutShape: 2, carat: 1 } },
}
const patched = (set: object, removed: readonly string[] = []): DiamondEvent =>
  ({ type: 'DiamondPatched', data: { set, removed } }) as DiamondEvent
const ATTACHED: DiamondEvent = {
  type: 'CertificationAttached',
  data: { id: 3, laboratory: 'GIA', number: null, file: null },
}
const READING: ReportReading = {
  number: null,
  carat: null,
  measurements: null,
  table: 57,
  depth: 61,
  crownAngle: 34,
  pavilionAngle: 41,
  girdle: null,
  star: null,
  lower: null,
  laboratory: null,
  shape: null,
  isLabGrown: null,
  unclear: [],
}
const read = (reading: Partial<ReportReading> = {}): DiamondEvent => ({
  type: 'ReportRead',
  data: { certification: 3, reading: { ...READING, ...reading } },
})
const REMOVED: DiamondEvent = { type: 'CertificationRemoved', data: { id: 3, digest: null } }
const MODEL: DiamondEvent = {
  type: 'StoneModelAttached',
  data: {
    format: 'OFF',
    facets: 57,
    planes: { count: 57, within: 0.05 },
    carat: 1,
    measurements: { length: 6.5, width: 6.5, depth: 4 },
    file: { digest: 'a'.repeat(64), bytes: 9 },
  },
}
const MODEL_REMOVED: DiamondEvent = { type: 'StoneModelRemoved', data: { digest: 'a'.repeat(64) } }

const stoneRevision = (...events: readonly DiamondEvent[]) =>
  events.reduce((state, event, revision) => evolveScoring(state, event, revision), initialScoringState).stoneRevision

for (const [name, event, invalidates, mayInvalidate] of [
  ['a creation', CREATED, true, true],
  ['a new weight', patched({ carat: 2 }), true, true],
  ['a removed grade', patched({}, ['polish']), true, true],
  ['a price', patched({ price: 2 }), false, false],
  ['a removed price', patched({}, ['price']), false, false],
  ['a new weight together with a price', patched({ price: 2, carat: 2 }), true, true],
  ['another origin, which a report may match', patched({ isLabGrown: true }), false, true],
  ['a report that is not yet read', ATTACHED, false, false],
  ['the reading of a report', read(), false, true],
  ['the removal of a report', REMOVED, false, true],
  ['a 3D model', MODEL, true, true],
  ['the removal of a 3D model', MODEL_REMOVED, true, true],
  ['the deletion of the diamond', { type: 'DiamondDeleted', data: {} } satisfies DiamondEvent, false, false],
] as const) {
  test(`${invalidates ? 'always changes' : mayInvalidate ? 'may change' : 'never changes'} with ${name}`, () => {
    assert.is(invalidatesScores(event), invalidates)
    assert.is(mayInvalidateScores(event), mayInvalidate)
  })
}

test('is -1 before the diamond is created', () => assert.is(initialScoringState.stoneRevision, -1))

test('is the revision of the last event that invalidated scores', () => {
  assert.is(stoneRevision(CREATED), 0)
  assert.is(stoneRevision(CREATED, patched({ price: 5 })), 0)
  assert.is(stoneRevision(CREATED, patched({ carat: 5 }), patched({ price: 5 })), 1)
  assert.is(stoneRevision(CREATED, MODEL, patched({ price: 5 }), MODEL_REMOVED), 3)
})

test('changes with the reading of a report only if the report has measurements', () => {
  assert.is(stoneRevision(CREATED, ATTACHED, read()), 2)
  const nothing = { table: null, depth: null, crownAngle: null, pavilionAngle: null }
  assert.is(stoneRevision(CREATED, ATTACHED, read(nothing)), 0)
})

test('changes with the removal of a report only if the report had measurements', () => {
  assert.is(stoneRevision(CREATED, ATTACHED, read(), REMOVED), 3)
  assert.is(stoneRevision(CREATED, ATTACHED, REMOVED), 0)
})

test('changes when a report no longer matches its diamond', () => {
  assert.is(stoneRevision(CREATED, ATTACHED, read({ isLabGrown: false }), patched({ isLabGrown: true })), 3)
  assert.is(stoneRevision(CREATED, ATTACHED, read(), patched({ isLabGrown: true })), 2)
})

test.run()
