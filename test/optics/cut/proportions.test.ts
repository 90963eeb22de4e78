import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  cutGrades,
  cutKey,
  girdles,
  modelledShapes,
  type Cut,
  type CutMeasurements,
} from '../../../src/optics/cut/cut.ts'
import { ImpossibleProportions, proportionsOf } from '../../../src/optics/cut/proportions.ts'
import { facetModels } from '../../../src/optics/cut/facets.ts'
import { solidOfCut } from '../../../src/optics/cut/trace-cut.ts'
import { solidOf } from '../../../src/optics/solid/solid.ts'
import { isClose, nominalCut } from '../cuts.ts'

const test = suite('proportions')

const round = nominalCut('Round', 'Excellent')

test('of a report replace the nominal ones, and depth and angles determine the girdle', () => {
  const measured = { tablePct: 57, crownAngle: 34, pavilionAngle: 40.7, depthPct: 60, starPct: 50, lowerPct: 80 }
  const { table, crownHeight, pavilionDepth, girdle } = proportionsOf({ ...round, measured })
  assert.is(table, 0.57)
  assert.ok(
    isClose(crownHeight, 0.145, 0.0001) && isClose(pavilionDepth, 0.43, 0.0002) && isClose(girdle, 0.025, 0.0003),
  )
})

test('have the girdle that depth and angles leave if the stated one differs only by rounding', () => {
  const measured = { tablePct: 57, crownAngle: 34, pavilionAngle: 40.7, depthPct: 60 }
  const girdleOf = (girdlePct?: number) =>
    proportionsOf({ ...round, measured: { ...measured, ...(girdlePct !== undefined && { girdlePct }) } }).girdle
  assert.is(girdleOf(2.5), girdleOf())
  assert.is(girdleOf(3), girdleOf())
  assert.is(girdleOf(4), 0.04)
  assert.is(girdleOf(0.5), 0.005)
  // Because of rounding, depth and angles leave a negative girdle.
  const thin = { ...measured, depthPct: 57.3, girdlePct: 0.5 }
  assert.is(proportionsOf({ ...round, measured: thin }).girdle, 0.005)
})

test('of old cuts include a culet unless a report says that there is none', () => {
  for (const shape of ['OldEuropean', 'OldMine'] as const) {
    const cut = nominalCut(shape, 'Typical')
    assert.ok(proportionsOf(cut).culet > 0.02)
    assert.is(proportionsOf({ ...cut, culet: 'None' }).culet, 0)
    assert.is.not(cutKey({ ...cut, culet: 'None' }), cutKey(cut))
    assert.is(cutKey({ ...cut, culet: 'Large' }), cutKey(cut))
  }
})

test('of a report with depth alone change the pavilion', () => {
  const deep = proportionsOf({ ...round, measured: { depthPct: 65 } })
  assert.ok(isClose(deep.pavilionDepth, proportionsOf(round).pavilionDepth + 0.036, 1e-9))
})

test('of a report with depth and one angle change the other part and keep the girdle', () => {
  const { girdle, crownHeight, pavilionDepth } = proportionsOf(round)
  const byCrown = proportionsOf({ ...round, measured: { depthPct: 62, crownAngle: 32 } })
  const byPavilion = proportionsOf({ ...round, measured: { depthPct: 62, pavilionAngle: 41 } })
  assert.ok(byCrown.crownHeight < crownHeight && byCrown.pavilionDepth > pavilionDepth)
  assert.ok(isClose(byPavilion.pavilionDepth, Math.tan((41 * Math.PI) / 180) / 2, 1e-9))
  for (const one of [byCrown, byPavilion]) {
    assert.is(one.girdle, girdle)
    assert.ok(isClose(one.crownHeight + one.girdle + one.pavilionDepth, 0.62, 1e-9))
  }
})

test('of a report each replace only the corresponding nominal one', () => {
  const nominal = proportionsOf(nominalCut('Oval', 'Good'))
  const changedBy = (measured: CutMeasurements) => {
    const found = proportionsOf({ ...nominalCut('Oval', 'Good'), measured })
    return Object.entries(found).flatMap(([name, value]) =>
      value === Object.entries(nominal).find(([key]) => key === name)?.[1] ? [] : [name],
    )
  }
  assert.equal(changedBy({ lengthToWidth: 1.3 }), ['lengthToWidth'])
  assert.equal(changedBy({ girdlePct: 2 }), ['girdle'])
  assert.equal(changedBy({ starPct: 60 }), ['star'])
  assert.equal(changedBy({ lowerPct: 75 }), ['lower'])
  assert.equal(changedBy({ crownAngle: 33 }), ['crownHeight'])
  assert.equal(changedBy({ pavilionAngle: 40 }), ['pavilionDepth'])
})

test('make a stone heavier with a thicker girdle, and lighter with a larger culet', () => {
  // Without the tilts of its finish, which differ when there is one more facet.
  const volume = (cut: Cut) => solidOf(facetModels.Round(proportionsOf(cut))).volume
  const byGirdle = girdles.map((girdle) => volume({ ...round, girdle: [girdle] }))
  const byCulet = (['None', 'Slightly Large', 'Large', 'Extremely Large'] as const).map((culet) =>
    volume({ ...round, culet }),
  )
  assert.ok(byGirdle.every((volume, index) => index === 0 || volume > (byGirdle[index - 1] ?? 0)))
  assert.ok(byCulet.every((volume, index) => index === 0 || volume < (byCulet[index - 1] ?? 0)))
})

test('have a girdle between the two ends of a range', () => {
  const girdle = (...range: [(typeof girdles)[number], (typeof girdles)[number]?]) =>
    proportionsOf({ ...round, girdle: range }).girdle
  assert.ok(girdle('Thin') < girdle('Thin', 'Thick') && girdle('Thin', 'Thick') < girdle('Thick'))
})

for (const [measured, message] of [
  [{ starPct: 5 }, 'starPct must be 20 to 80, got 5'],
  [{ tablePct: Number.NaN }, 'tablePct must be 20 to 90, got NaN'],
  [{ depthPct: 45, pavilionAngle: 41 }, 'the depth leaves -2.5 % for the crown'],
  [{ depthPct: 50, crownAngle: 34, pavilionAngle: 41 }, 'the depth leaves -7.29 % for the girdle'],
] as const)
  test(`that are impossible are rejected: ${message}`, () => {
    assert.throws(
      () => proportionsOf({ ...round, measured }),
      (error: unknown) => error instanceof ImpossibleProportions && error.message === message,
    )
  })

test('of every shape and grade result in a solid', () => {
  for (const shape of modelledShapes) {
    for (const grade of cutGrades) {
      const { solid } = solidOfCut(nominalCut(shape, grade))
      assert.ok(solid.volume > 0.1 && solid.faceUpArea > 0.6, `${shape} ${grade}`)
    }
  }
})

test('have the same key for equal cuts and different keys for different cuts', () => {
  assert.is(cutKey({ ...round, culet: 'None' }), cutKey(round))
  assert.is(
    cutKey({ ...round, measured: { tablePct: 57, depthPct: 61 } }),
    cutKey({ ...round, measured: { depthPct: 61, tablePct: 57 } }),
  )
  const keys = [
    round,
    { ...round, polish: 'Good' as const },
    { ...round, symmetry: 'Good' as const },
    { ...round, girdle: ['Thin'] as const },
  ]
  assert.is(new Set(keys.map(cutKey)).size, keys.length)
})

test.run()
