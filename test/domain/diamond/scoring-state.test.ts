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

const test = suite('what scores a stone anew')

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
const BODY: DiamondEvent = {
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
const BODY_REMOVED: DiamondEvent = { type: 'StoneModelRemoved', data: { digest: 'a'.repeat(64) } }

const stoneRevision = (...events: readonly DiamondEvent[]) =>
  events.reduce((state, event, revision) => evolveScoring(state, event, revision), initialScoringState).stoneRevision

for (const [what, event, touches, may] of [
  ['a creation', CREATED, true, true],
  ['a new weight', patched({ carat: 2 }), true, true],
  ['a grade that is taken away', patched({}, ['polish']), true, true],
  ['a price', patched({ price: 2 }), false, false],
  ['a price that is taken away', patched({}, ['price']), false, false],
  ['a new weight beside a price', patched({ price: 2, carat: 2 }), true, true],
  ['another origin, with which a report may fit', patched({ isLabGrown: true }), false, true],
  ['a report, before it is read', ATTACHED, false, false],
  ['what was read of it', read(), false, true],
  ['the end of a report', REMOVED, false, true],
  ['a body of its own', BODY, true, true],
  ['the end of that', BODY_REMOVED, true, true],
  ['its deletion', { type: 'DiamondDeleted', data: {} } satisfies DiamondEvent, false, false],
] as const) {
  test(`${touches ? 'is' : 'is not'} ${what}, which ${may ? 'may' : 'can not'}`, () => {
    assert.is(invalidatesScores(event), touches)
    assert.is(mayInvalidateScores(event), may)
  })
}

test('is nothing before there is a stone', () => assert.is(initialScoringState.stoneRevision, -1))

test('is the last event that changed what scores rest on', () => {
  assert.is(stoneRevision(CREATED), 0)
  assert.is(stoneRevision(CREATED, patched({ price: 5 })), 0)
  assert.is(stoneRevision(CREATED, patched({ carat: 5 }), patched({ price: 5 })), 1)
  assert.is(stoneRevision(CREATED, BODY, patched({ price: 5 }), BODY_REMOVED), 3)
})

test('is a report only where it measured something', () => {
  assert.is(stoneRevision(CREATED, ATTACHED, read()), 2)
  const nothing = { table: null, depth: null, crownAngle: null, pavilionAngle: null }
  assert.is(stoneRevision(CREATED, ATTACHED, read(nothing)), 0)
})

test('is the end of a report that had measured something, and of no other', () => {
  assert.is(stoneRevision(CREATED, ATTACHED, read(), REMOVED), 3)
  assert.is(stoneRevision(CREATED, ATTACHED, REMOVED), 0)
})

test('is a change after which a report does not fit its stone any more', () => {
  assert.is(stoneRevision(CREATED, ATTACHED, read({ isLabGrown: false }), patched({ isLabGrown: true })), 3)
  assert.is(stoneRevision(CREATED, ATTACHED, read(), patched({ isLabGrown: true })), 2)
})

test.run()
