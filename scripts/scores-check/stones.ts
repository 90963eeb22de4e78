import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { grades, modelledShapes, type Cut, type Grade } from '../../src/domain/scoring/cut.ts'
import { facetModels } from '../../src/domain/scoring/facets.ts'
import { errors } from '../../src/domain/scoring/members.ts'
import { weight } from '../../src/domain/scoring/optics.ts'
import { roundProportions, type RoundMeasures } from '../../src/domain/scoring/round-proportions.ts'
import { score } from '../../src/domain/scoring/score.ts'
import { solidOf } from '../../src/domain/scoring/solid.ts'
import { reference, table } from '../../src/domain/scoring/table.ts'
import { solidOfCut, traceSolid, type TracedCut } from '../../src/domain/scoring/trace-cut.ts'
import { near, says, type Check } from './check.ts'

const words: readonly (readonly [string, Grade])[] = [
  ['Ideal', 'Ideal'],
  ['Premium', 'Excellent'],
  ['Very Good', 'Very Good'],
  ['Good', 'Good'],
  ['Fair', 'Fair'],
]

const scoresOf = (grade: Grade) =>
  score({ shape: 'Round', carat: 1, cutGrade: grade }, table[`Round, ${grade}`] ?? null)

/** Against what the stones' own x, y and carat say. */
export function spreadChecks(): Check[] {
  const file = new URL('../../data/diamonds.csv.gz', import.meta.url)
  const stones: Record<string, string>[] = parse(gunzipSync(readFileSync(file)), { columns: true })
  const usable = stones.filter(({ x, y, z }) => Number(x) > 0 && Number(y) > 0 && Number(y) < 20 && Number(z) > 0)
  const whole = weight(reference.volume, 1)
  const checks = words.map(([word, grade]) => {
    const spreads = usable
      .filter(({ cut }) => cut === word)
      .map(({ carat, x, y }) => 100 * (1 - Number(carat) / whole / ((Number(x) + Number(y)) / 2) ** 3))
      .sort((a, b) => a - b)
    return near(
      `pc of ${word} (${spreads.length} stones)`,
      spreads[spreads.length >> 1] ?? NaN,
      scoresOf(grade).spread?.pc ?? NaN,
      1.5,
      2,
    )
  })
  return [says('stones with usable measures', '53917 or so', String(usable.length), usable.length > 53_900), ...checks]
}

/** What must fall with each grade of a round, and the reference's own scores. */
export function fallChecks(): Check[] {
  const of = (pick: (grade: Grade) => number | undefined) => grades.map((grade) => pick(grade) ?? NaN)
  const falls = (subject: string, values: readonly number[]) =>
    says(
      subject,
      'falls',
      values.join('  '),
      values.every((value, index) => index === 0 || value < (values[index - 1] ?? 0)),
    )
  const integral = of((grade) => scoresOf(grade).integral?.rg)
  const drop = (integral[1] ?? NaN) - (integral.at(-1) ?? NaN)
  const own = score({ shape: 'Round', carat: 1 }, reference)
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
    says('integral, Excellent less Poor', 'over 0.05', drop.toFixed(2), drop > 0.05),
    says(
      'reference: fire, brilliance, integral',
      '1, 1, 1',
      [own.fire?.rg, own.brilliance?.rg, own.integral?.rg].join(', '),
      own.fire?.val === 1 && own.brilliance?.rg === 1 && own.integral?.val === 1,
    ),
  ]
}

/** Three scanned stones of a published case study: the sign and size of their spread. */
export function caseChecks(): Check[] {
  const stones: readonly (readonly [string, Partial<RoundMeasures>, number, number, number])[] = [
    ['A', { table: 60, crown: 33, pavilion: 40.6, star: 50, lower: 80 }, 1.16, 6.85, 3],
    ['B', { table: 55, crown: 34.5, pavilion: 41, star: 45, lower: 80 }, 1.19, 6.75, -3],
    ['C', { table: 57, crown: 35, pavilion: 41.4, star: 45, lower: 80 }, 1.28, 6.92, -5],
  ]
  return stones.map(([name, , carat, mm, published]) =>
    near(
      `spread of stone ${name}, % of its weight`,
      published,
      100 * (weight(reference.volume, mm) / carat - 1),
      2.5,
      1,
    ),
  )
}

const plain = (shape: Cut['shape'], grade: Grade): Cut => ({ shape, grade, polish: grade, symmetry: grade })

/** Half the spacing in each of four dimensions is sixteen times the rays. */
export function errorChecks(): Check[] {
  const cuts = modelledShapes.map((shape) => plain(shape, 'Good'))
  const finest = 16
  const coarse = table
  const fineReference = traceSolid(solidOf(facetModels.Round(roundProportions({}))), { crown: 0, pavilion: 0 }, finest)
  const moved = cuts.map((cut) => {
    const { solid, deviation } = solidOfCut(cut)
    const fine = traceSolid(solid, deviation, finest)
    const usual = coarse[`${cut.shape}, ${cut.grade}`] ?? fine
    return {
      cut,
      brilliance: change(usual, fine, fineReference, 'weighted'),
      fire: change(usual, fine, fineReference, 'fire'),
    }
  })
  return moved.flatMap(({ cut, brilliance, fire }) => [
    says(
      `${cut.shape}: brilliance, spacing halved`,
      `moves by less than ${errors.brilliance}`,
      brilliance.toFixed(4),
      brilliance < errors.brilliance,
    ),
    says(
      `${cut.shape}: fire, spacing halved`,
      `moves by less than ${errors.fire}`,
      fire.toFixed(4),
      fire < errors.fire,
    ),
  ])
}

const change = (usual: TracedCut, fine: TracedCut, fineReference: TracedCut, of: 'weighted' | 'fire') =>
  Math.abs(usual[of] / reference[of] - fine[of] / fineReference[of])
