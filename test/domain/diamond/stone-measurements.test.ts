import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toStoneMeasurements } from '../../../src/domain/diamond/stone-measurements.ts'

const test = suite('a measured stone')

const OVAL = { length: 8.01, width: 5.92, depth: 3.61 }

test('has its length to width ratio, and its depth if the report gives none, from its millimetres', () => {
  const face = { length: 8.01, width: 5.92 }
  assert.equal(toStoneMeasurements('Oval', { size: OVAL }), { measured: { depthPct: 61, lengthToWidth: 1.353 }, face })
  assert.equal(toStoneMeasurements('Oval', { depth: 60.9, size: OVAL }).measured, {
    depthPct: 60.9,
    lengthToWidth: 1.353,
  })
})

test('has the longer side as its length, except for a heart', () => {
  const turned = { length: 5.92, width: 8.01, depth: 3.61 }
  assert.is(toStoneMeasurements('Oval', { size: turned }).measured?.lengthToWidth, 1.353)
  assert.is(toStoneMeasurements('Heart', { size: { length: 6.4, width: 7, depth: 4 } }).measured?.lengthToWidth, 0.914)
})

test('that is round has no length to width ratio, and a depth relative to the mean diameter', () => {
  const { measured } = toStoneMeasurements('Round', { size: { length: 5.77, width: 5.74, depth: 3.56 } })
  assert.equal(measured, { depthPct: 61.9 })
})

test('whose depth in percent ends in a half has it rounded up, whatever its binary approximation', () => {
  const { measured } = toStoneMeasurements('Round', { size: { length: 6.58, width: 6.54, depth: 3.69 } })
  assert.equal(measured, { depthPct: 56.3 })
})

test('has the measured proportions under the names of the scoring model', () => {
  const reading = { table: 57, crownAngle: 34.5, pavilionAngle: 40.8, girdle: 3.5, star: 50, lower: 75 }
  const measured = { tablePct: 57, crownAngle: 34.5, pavilionAngle: 40.8, girdlePct: 3.5, starPct: 50, lowerPct: 75 }
  assert.equal(toStoneMeasurements('Round', reading), { measured })
  assert.equal(toStoneMeasurements('Round', undefined), {})
})

test('that is a briolette has only length, width and depth, in any order in the report', () => {
  const expected = { measured: { depthPct: 98.4, lengthToWidth: 1.694 }, face: { length: 10.5, width: 6.2 } }
  const reading = { table: 57, depth: 61, crownAngle: 34, pavilionAngle: 41, girdle: 3, star: 50, lower: 75 }
  for (const [length, width, depth] of [
    [10.5, 6.2, 6.1],
    [6.1, 6.2, 10.5],
    [6.2, 10.5, 6.1],
  ] as const)
    assert.equal(toStoneMeasurements('Briolette', { ...reading, size: { length, width, depth } }), expected)
  assert.equal(toStoneMeasurements('Briolette', reading), {})
})

test.run()
