import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cutGrades, grades, modelledShapes, type Cut, type Finish, type Grade } from '../../../src/optics/cut/cut.ts'
import { noLeanLoss, leanFactors, leanTable } from '../../../src/optics/cut/lean.ts'
import { traceCut, traceReference } from '../../../src/optics/cut/trace-cut.ts'
import { scoreStone, findTracedCut } from '../../../src/optics/score.ts'
import { nominalCut } from '../cuts.ts'

const test = suite('tilted facets')

const finishes: readonly Finish[] = grades.flatMap((symmetry) => grades.map((polish) => ({ symmetry, polish })))

const figures = ['brilliance', 'fire', 'faceup', 'avg'] as const

/** The finishes that are one grade worse in symmetry or in polish. */
const worseThan = ({ symmetry, polish }: Finish): Finish[] => {
  const next = (grade: Grade) => grades.slice(grades.indexOf(grade) + 1, grades.indexOf(grade) + 2)
  return [
    ...next(symmetry).map((worse) => ({ symmetry: worse, polish })),
    ...next(polish).map((worse) => ({ symmetry, polish: worse })),
  ]
}

/** Each factor alone decreases, so no score can rise for any stone. */
test('reduce each figure more the further they are tilted, and never raise one', () => {
  for (const shape of modelledShapes)
    for (const finish of finishes)
      for (const worse of worseThan(finish))
        for (const figure of figures) {
          const factorOf = (one: Finish) => leanFactors({ shape, ...one })[figure]
          const [before, after] = [factorOf(finish), factorOf(worse)]
          assert.ok(after <= before && before <= 1 && after > 0.5, `${shape}, ${figure}: ${before} to ${after}`)
        }
})

test('have the tabulated factors at each grade', () => {
  for (const shape of modelledShapes)
    for (const [index, grade] of grades.entries()) {
      const factors = leanFactors({ shape, symmetry: grade, polish: grade })
      for (const figure of figures)
        assert.ok(
          Math.abs(factors[figure] - (leanTable[shape][figure][index] ?? NaN)) < 1e-6,
          `${shape}, ${figure} of ${grade}`,
        )
    }
})

test('reduce the brilliance of a Poor round by more than 0.03 compared with an Ideal one', () => {
  const brillianceOf = (symmetry: Grade) => leanFactors({ shape: 'Round', symmetry, polish: 'Ideal' }).brilliance
  assert.ok(brillianceOf('Poor') < brillianceOf('Ideal') - 0.03, `${brillianceOf('Ideal')} to ${brillianceOf('Poor')}`)
})

function scoresOf(cut: Cut): Record<string, number> {
  const { shape, grade, symmetry, polish } = cut
  const stone = { shape, carat: 1.37, symmetry, polish, ...(grade !== 'Typical' && { cutGrade: grade }) }
  const { brilliance, fire, integral, spread, symmetry: graded } = scoreStone(stone, findTracedCut(cut) ?? null)
  assert.ok(brilliance && fire && integral && spread && graded)
  return {
    brilliance: brilliance.val,
    faceup: brilliance.faceup,
    avg: brilliance.avg,
    fire: fire.rg,
    'absolute fire': fire.val,
    integral: integral.rg,
    'absolute integral': integral.val,
    spread: spread.pc,
    symmetry: graded.val,
  }
}

for (const shape of modelledShapes)
  test(`never raise a score of a ${shape} with a worse grade of symmetry or polish`, () => {
    for (const grade of cutGrades)
      for (const finish of finishes)
        for (const worse of worseThan(finish)) {
          const [before, after] = [finish, worse].map((one) => scoresOf({ ...nominalCut(shape, grade), ...one }))
          assert.ok(before && after)
          const rises = Object.entries(after).filter(([name, value]) => !(value <= (before[name] ?? NaN)))
          assert.equal(rises, [], `${grade}, ${JSON.stringify(finish)} to ${JSON.stringify(worse)}`)
          assert.is(after['spread'], before['spread'])
        }
  })

test('are not traced, even in measured stones: only deviations and factors differ', () => {
  const measured = { tablePct: 58, crownAngle: 35, pavilionAngle: 41.2 }
  const [fine, poor] = (['Ideal', 'Poor'] as const).map((symmetry) => {
    const { factors, crownDeviation, pavilionDeviation, ...light } = traceCut({
      ...nominalCut('Round', 'Good'),
      measured,
      symmetry,
    })
    return { factors, crownDeviation, pavilionDeviation, light }
  })
  assert.equal(fine?.light, poor?.light)
  assert.ok(fine && poor && poor.factors.brilliance < fine.factors.brilliance)
  assert.ok((poor.crownDeviation ?? 0) > 10 * (fine.crownDeviation ?? NaN))
})

test('do not occur in the reference', () => assert.equal(traceReference().factors, noLeanLoss))

test.run()
