import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { modelledShapes } from '../../../src/optics/cut/cut.ts'
import { possibleCut } from '../../../src/optics/cut/possible-cut.ts'
import { solidOfCut } from '../../../src/optics/cut/trace-cut.ts'
import { isClose, nominalCut } from '../cuts.ts'

const test = suite('a possible cut')

const oval = nominalCut('Oval', 'Good')

test('is the cut itself if its measurements are possible', () => {
  const cut = { ...oval, measured: { depthPct: 61, lengthToWidth: 1.4 } }
  assert.is(possibleCut(cut), cut)
  assert.is(possibleCut(oval), oval)
})

test('keeps only the length to width ratio of contradictory measurements', () => {
  const wrong = { depthPct: 50, crownAngle: 34, pavilionAngle: 41 }
  assert.equal(possibleCut({ ...oval, measured: { ...wrong, lengthToWidth: 1.4 } }), {
    ...oval,
    measured: { lengthToWidth: 1.4 },
  })
  assert.equal(possibleCut({ ...oval, measured: wrong }), oval)
  assert.equal(possibleCut({ ...oval, measured: { lengthToWidth: 40 } }), oval)
})

test('of every shape has the measured length', () => {
  for (const shape of modelledShapes.filter((one) => one !== 'Round' && one !== 'OldEuropean')) {
    for (const lengthToWidth of [1, 1.2, 1.5, 2.2]) {
      const { solid } = solidOfCut({ ...nominalCut(shape, 'Very Good'), measured: { lengthToWidth } })
      assert.ok(isClose(solid.length / solid.width, lengthToWidth, 0.02), `${shape} ${solid.length / solid.width}`)
    }
  }
})

test.run()
