import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { errorsOf, type Errors } from '../../../src/domain/scoring/errors.ts'

const test = suite('how far a score may be off')

const typical = errorsOf({})
const names = ['integral', 'fire', 'brilliance'] as const
const isNarrower = (one: Errors, other: Errors) => names.every((name) => one[name] < other[name])

test('is less where a report has table, crown and pavilion angle, and least for own facets', () => {
  const measured = errorsOf({ measured: { tablePct: 57, crownAngle: 34.5, pavilionAngle: 40.8 } })
  assert.ok(isNarrower(measured, typical))
  assert.ok(isNarrower(errorsOf({ ownFacets: true }), measured))
})

test('is that of a typical stone where one of the angles is missing', () => {
  assert.equal(errorsOf({ measured: { tablePct: 57, depthPct: 61, crownAngle: 34.5 } }), typical)
  assert.equal(errorsOf({ measured: { tablePct: 57, depthPct: 61, pavilionAngle: 40.8 } }), typical)
})

test('is less for spread alone where millimetres are known', () => {
  const { spread, ...others } = errorsOf({ face: { length: 6.5, width: 6.4 } })
  assert.ok(spread < typical.spread)
  const { spread: _, ...usual } = typical
  assert.equal(others, usual)
})

test('of own facets does not depend on what a report says', () => {
  const own = errorsOf({ ownFacets: true })
  assert.equal(errorsOf({ ownFacets: true, face: { length: 6.5, width: 6.4 }, measured: { tablePct: 57 } }), own)
})

test.run()
