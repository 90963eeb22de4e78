import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { cutKey, grades, modelledShapes, type Cut, type Grade } from '../../src/optics/cut/cut.ts'
import { weight } from '../../src/optics/light/diamond-material.ts'
import type { RoundMeasures } from '../../src/optics/cut/trace-cut.ts'
import { findTracedCut, referenceCut, scoreStone } from '../../src/optics/score.ts'
import { nearPublished, makeCheck, type Check } from './check.ts'
import { defaultCut, quantile } from './designs.ts'
import { nominalScores } from './relative-scores.ts'

export const datasetGrades: readonly (readonly [string, Grade])[] = [
  ['Ideal', 'Ideal'],
  ['Premium', 'Excellent'],
  ['Very Good', 'Very Good'],
  ['Good', 'Good'],
  ['Fair', 'Fair'],
]

const scoresOf = (grade: Grade) =>
  scoreStone({ shape: 'Round', carat: 1, cutGrade: grade }, findTracedCut(defaultCut('Round', grade)) ?? null)

type DatasetRow = Readonly<Record<string, string>>

function datasetRows(): readonly DatasetRow[] {
  const file = new URL('../../data/diamonds.csv.gz', import.meta.url)
  return parse(gunzipSync(readFileSync(file)), { columns: true })
}

/** The stones of the bundled data set whose measurements are usable. */
export const realStones = (): DatasetRow[] =>
  datasetRows().filter(
    ({ x, y, z }) => Number(x) > 0 && Number(y) > 0 && Number(y) < 20 && Number(z) > 0 && Number(z) < 20,
  )

/** The cuts of the bundled data set's stones, as far as their grade, table and depth say. Some are impossible. */
export function datasetCuts(): Cut[] {
  const gradeOf = new Map(datasetGrades)
  const cuts = datasetRows().map(({ cut = '', table, depth }): Cut => {
    const grade = gradeOf.get(cut) ?? 'Typical'
    return { ...defaultCut('Round', grade), measured: { tablePct: Number(table), depthPct: Number(depth) } }
  })
  return [...new Map(cuts.map((cut) => [cutKey(cut), cut])).values()]
}

/** Compares spreads with those computed from the stones' x, y and carat. */
export function spreadChecks(): Check[] {
  const stones = realStones()
  const referenceWeight = weight(referenceCut.volume, 1)
  const checks = datasetGrades.map(([word, grade]) => {
    const spreads = stones
      .filter(({ cut }) => cut === word)
      .map(({ carat, x, y }) => 100 * (1 - Number(carat) / referenceWeight / ((Number(x) + Number(y)) / 2) ** 3))
    return nearPublished(
      `pc of ${word} (${spreads.length} stones)`,
      quantile(spreads, 0.5),
      scoresOf(grade).spread?.pc ?? NaN,
      1.5,
      2,
    )
  })
  return [
    makeCheck('stones with usable measurements', '53917', String(stones.length), stones.length === 53_917),
    ...checks,
  ]
}

/** Scores that must decrease from grade to grade of a round, and the reference's own scores. */
export function monotonicityChecks(): Check[] {
  const of = (pick: (grade: Grade) => number | undefined) => grades.map((grade) => pick(grade) ?? NaN)
  const falls = (subject: string, values: readonly number[]) =>
    makeCheck(
      subject,
      'falls',
      values.join('  '),
      values.every((value, index) => index === 0 || value < (values[index - 1] ?? 0)),
    )
  const integral = of((grade) => scoresOf(grade).integral?.rg)
  const drop = (integral[1] ?? NaN) - (integral.at(-1) ?? NaN)
  const own = scoreStone({ shape: 'Round', carat: 1 }, referenceCut)
  return [
    falls('integral.rg of rounds by grade', integral),
    falls(
      'spread.pc of rounds by grade',
      of((grade) => scoresOf(grade).spread?.pc),
    ),
    falls(
      'symmetry.val by grade',
      of((grade) => scoresOf(grade).symmetry?.val),
    ),
    makeCheck('integral, Excellent minus Poor', 'over 0.05', drop.toFixed(2), drop > 0.05),
    makeCheck(
      'reference: fire, brilliance, integral',
      '1, 1, 1',
      [own.fire?.rg, own.brilliance?.rg, own.integral?.rg].join(', '),
      own.fire?.val === 1 && own.brilliance?.rg === 1 && own.integral?.val === 1,
    ),
  ]
}

/**
 * For every shape, neither integral nor brilliance nor spread may rise at a lower grade, and integral must fall from the best to the worst
 * grade. A stone without a grade may score at most as much as Excellent.
 */
export function gradeOrderChecks(): Check[] {
  return modelledShapes.map((shape) => {
    const scores = grades.map((grade) => nominalScores(shape, grade))
    const values = (name: keyof (typeof scores)[number]) => scores.map((one) => one[name])
    const steps = (name: keyof (typeof scores)[number]) =>
      values(name).map((value, index) => value - (values(name)[index - 1] ?? value))
    const rises = (['integral', 'brilliance', 'pc'] as const).filter((name) => steps(name).some((step) => step > 0))
    const typical = nominalScores(shape, 'Typical')
    const integrals = values('integral')
    return makeCheck(
      `${shape}: integral by grade, and without a grade`,
      'falls; nothing rises; at most Excellent',
      [
        `${integrals.join('  ')} ${typical.integral}`,
        ...rises.map((name) => `${name} rises: ${values(name).join('  ')}`),
      ].join('; '),
      rises.length === 0 &&
        (integrals.at(-1) ?? NaN) < (integrals[0] ?? NaN) &&
        typical.integral <= (integrals[1] ?? NaN),
    )
  })
}

/** Three scanned stones of a published case study: sign and size of their spread. */
export function caseStudyChecks(): Check[] {
  const stones: readonly (readonly [string, Partial<RoundMeasures>, number, number, number])[] = [
    ['A', { table: 60, crown: 33, pavilion: 40.6, star: 50, lower: 80 }, 1.16, 6.85, 3],
    ['B', { table: 55, crown: 34.5, pavilion: 41, star: 45, lower: 80 }, 1.19, 6.75, -3],
    ['C', { table: 57, crown: 35, pavilion: 41.4, star: 45, lower: 80 }, 1.28, 6.92, -5],
  ]
  return stones.map(([name, , carat, mm, published]) =>
    nearPublished(
      `spread of stone ${name}, % of its weight`,
      published,
      100 * (weight(referenceCut.volume, mm) / carat - 1),
      2.5,
      1,
    ),
  )
}
