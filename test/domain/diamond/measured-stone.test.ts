import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toStoneMeasurements } from '../../../src/domain/diamond/scored-stone.ts'

const test = suite('a measured stone')

const OVAL = { length: 8.01, width: 5.92, depth: 3.61 }

test('has its length to width and its depth from its millimetres, where the report gives no depth', () => {
  const face = { length: 8.01, width: 5.92 }
  assert.equal(toStoneMeasurements('Oval', { size: OVAL }), { measured: { depthPct: 61, lengthToWidth: 1.353 }, face })
  assert.equal(toStoneMeasurements('Oval', { depth: 60.9, size: OVAL }).measured, {
    depthPct: 60.9,
    lengthToWidth: 1.353,
  })
})

test('is as long whichever side stands first; of a heart the sides are not alike', () => {
  const turned = { length: 5.92, width: 8.01, depth: 3.61 }
  assert.is(toStoneMeasurements('Oval', { size: turned }).measured?.lengthToWidth, 1.353)
  assert.is(toStoneMeasurements('Heart', { size: { length: 6.4, width: 7, depth: 4 } }).measured?.lengthToWidth, 0.914)
})

test('that is round stays round, and its depth is of the mean diameter', () => {
  const { measured } = toStoneMeasurements('Round', { size: { length: 5.77, width: 5.74, depth: 3.56 } })
  assert.equal(measured, { depthPct: 61.9 })
})

test('has what was measured in the words of the model, and nothing where nothing was', () => {
  const said = { table: 57, crownAngle: 34.5, pavilionAngle: 40.8, girdle: 3.5, star: 50, lower: 75 }
  const measured = { tablePct: 57, crownAngle: 34.5, pavilionAngle: 40.8, girdlePct: 3.5, starPct: 50, lowerPct: 75 }
  assert.equal(toStoneMeasurements('Round', said), { measured })
  assert.equal(toStoneMeasurements('Round', undefined), {})
})

test('that is a briolette has a length, a width and a depth, in whatever order a report writes them, and nothing else', () => {
  const expected = { measured: { depthPct: 98.4, lengthToWidth: 1.694 }, face: { length: 10.5, width: 6.2 } }
  const said = { table: 57, depth: 61, crownAngle: 34, pavilionAngle: 41, girdle: 3, star: 50, lower: 75 }
  for (const [length, width, depth] of [
    [10.5, 6.2, 6.1],
    [6.1, 6.2, 10.5],
    [6.2, 10.5, 6.1],
  ] as const)
    assert.equal(toStoneMeasurements('Briolette', { ...said, size: { length, width, depth } }), expected)
  assert.equal(toStoneMeasurements('Briolette', said), {})
})

test.run()
