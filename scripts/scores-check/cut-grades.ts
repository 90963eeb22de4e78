import { withDefaults } from '../../src/domain/diamond/fields.ts'
import { stoneOf } from '../../src/domain/diamond/scored-stone.ts'
import { scoringGrades } from '../../src/domain/dictionaries/constants.ts'
import { cutKey, type Cut } from '../../src/optics/cut/cut.ts'
import { cutOf } from '../../src/optics/cut/stone.ts'
import { traceCut, traceSolid, type RoundMeasures } from '../../src/optics/cut/trace-cut.ts'
import { nothingRead } from '../../test/fixtures/reports/layouts.ts'
import { proportionFields } from '../../test/fixtures/proportions.ts'
import { makeCheck, type Check } from './check.ts'
import { quantile, roundBrilliant } from './designs.ts'
import { charts, isBeyondFair } from './gia-charts.ts'
import { rankCorrelation } from './rank-correlation.ts'
import { relativeScores } from './relative-scores.ts'

/** A design with its grade on the GIA's charts, from 0 (Poor) to 4 (Excellent), and its scores. */
type GradedDesign = { readonly grade: number; readonly brilliance: number; readonly integral: number }

const LETTERS = 'pfgve'
/** Charts not used for calibration; 50, 56 and 62 were. */
const HELD_OUT = [53, 59, 65]
/** Every seventh cell: 117 designs per chart, in all rows and columns. */
const CELL_STEP = 7

function scoresOf(measures: Partial<RoundMeasures>): Omit<GradedDesign, 'grade'> {
  return relativeScores(traceSolid(roundBrilliant(measures), { crown: 0, pavilion: 0 }))
}

const commonMeasures = { star: 55, lower: 80, girdle: 3, culet: 0 }

/** What charts and stock lists give of a round. */
type ListedMeasures = Pick<RoundMeasures, 'table' | 'crown' | 'pavilion'>

/** The cut by which a round is scored whose owner states table and angles, or has them in a report. */
function cutAsKnown({ table, crown, pavilion }: ListedMeasures, source: 'owner' | 'report'): Cut {
  const known = { table, crownAngle: crown, pavilionAngle: pavilion }
  const round = { sku: 'A-1', cutShape: 2, carat: 1 }
  const report = { id: 1, laboratory: 'GIA', number: null, file: null, reading: { ...nothingRead, ...known } } as const
  const cut = cutOf(
    stoneOf(
      source === 'owner'
        ? { fields: withDefaults({ ...round, ...proportionFields(known) }), certifications: [] }
        : { fields: withDefaults(round), certifications: [report] },
    ),
  )
  if (cut === null) throw new Error('a round has no cut')
  return cut
}

/** @param scores the scores of a design of the charts */
function chartDesigns(scores: (measures: ListedMeasures) => Omit<GradedDesign, 'grade'>): GradedDesign[] {
  return HELD_OUT.flatMap((table) =>
    (charts[table] ?? '')
      .trim()
      .split('\n')
      .flatMap((line, row) => [...line].map((letter, column) => ({ letter, row, column })))
      .filter((_, index) => index % CELL_STEP === 0)
      .map(({ letter, row, column }) => ({
        grade: LETTERS.indexOf(letter),
        ...scores({ table, pavilion: 38.8 + row / 5, crown: 22 + column / 2 }),
      })),
  )
}

const poorDesigns = (): GradedDesign[] =>
  Array.from({ length: 240 }, (_, index) => ({
    table: 44 + 36 * sequencePart(index, 0.8191725134),
    crown: 4 + 42 * sequencePart(index, 0.6710436067),
    pavilion: 35 + 11 * sequencePart(index, 0.5497004779),
  }))
    .filter(isBeyondFair)
    .map((measures) => ({ grade: 0, ...scoresOf({ ...commonMeasures, ...measures }) }))

const sequencePart = (index: number, step: number): number => ((index + 1) * step) % 1

export function cutGradeChecks(): Check[] {
  const onCharts = chartDesigns((measures) => scoresOf({ ...commonMeasures, ...measures }))
  const all = [...onCharts, ...poorDesigns()]
  return [
    ...correlations('on three charts', onCharts, { brilliance: 0.75, integral: 0.75 }),
    ...correlations('with designs beyond them', all, { brilliance: 0.85, integral: 0.85 }),
    ...(['brilliance', 'integral'] as const).map((name) => falseExcellent(name, all, 0.05)),
    ...confusion(all),
    ...dullDesigns.map(([name, measures, most]) => {
      const { brilliance, integral } = scoresOf(measures)
      return makeCheck(name, `integral below ${most}`, `${integral} (brilliance ${brilliance})`, integral < most)
    }),
  ]
}

/** Rounds of the charts of which only the owner's table and angles are known must be ranked as well. */
export function statedDesignChecks(): Check[] {
  const differing = new Set<string>()
  const stated = chartDesigns((measures) => {
    const [byOwner, byReport] = [cutAsKnown(measures, 'owner'), cutAsKnown(measures, 'report')]
    if (cutKey(byOwner) !== cutKey(byReport)) differing.add(cutKey(byOwner))
    return relativeScores(traceCut(byOwner))
  })
  return [
    ...correlations('as stated', stated, { brilliance: 0.8, integral: 0.8 }),
    ...(['brilliance', 'integral'] as const).map((name) => falseExcellent(name, stated, 0.01)),
    makeCheck(
      `cuts of ${stated.length} as stated that differ from those by a report`,
      '0',
      `${differing.size}`,
      differing.size === 0,
    ),
  ]
}

const correlations = (where: string, designs: readonly GradedDesign[], least: Omit<GradedDesign, 'grade'>): Check[] =>
  (['brilliance', 'integral'] as const).map((name) => {
    const found = rankCorrelation(
      designs.map((design) => design[name]),
      designs.map(({ grade }) => grade),
    )
    return makeCheck(
      `${name}, ${designs.length} ${where}`,
      `correlation at least ${least[name]}`,
      found.toFixed(2),
      found >= least[name],
    )
  })

function falseExcellent(name: 'brilliance' | 'integral', designs: readonly GradedDesign[], most: number): Check {
  const bound = boundsOf(name)[3]
  const bad = designs.filter(({ grade }) => grade <= 1)
  const wrong = bad.filter((design) => design[name] >= bound).length
  return makeCheck(
    `${name}: Fair and Poor designs that score Excellent`,
    `at most ${100 * most} %`,
    `${wrong} of ${bad.length}`,
    wrong <= most * bad.length,
  )
}

const boundsOf = (name: 'brilliance' | 'integral') => scoringGrades[name === 'brilliance' ? 'brightness' : 'integral']

/** For each GIA grade, the number of designs by our grade of integral. */
function confusion(designs: readonly GradedDesign[]): Check[] {
  const bounds = boundsOf('integral')
  const names = ['Poor', 'Fair', 'Good', 'Very Good', 'Excellent']
  const rows = names.map((_, grade) => {
    const counts = [0, 0, 0, 0, 0, 0]
    for (const design of designs.filter((one) => one.grade === grade)) {
      const found = bounds.findIndex((bound, index) => design.integral < bound || index === bounds.length - 1)
      counts[found] = (counts[found] ?? 0) + 1
    }
    return counts
  })
  const medians = rows.map((_, grade) =>
    quantile(
      designs.filter((one) => one.grade === grade).map(({ integral }) => integral),
      0.5,
    ),
  )
  return rows
    .map((counts, grade) => {
      const median = medians[grade] ?? NaN
      const lower = medians[grade - 1] ?? 0
      // The medians of Poor, Fair and Good must not exceed their grade.
      const most = grade <= 2 ? bounds[grade] : undefined
      return makeCheck(
        `designs graded ${names[grade]}: ours P F G VG EX OU`,
        `median over ${lower}${most === undefined ? '' : `, at most ${most}`}`,
        `${counts.join(' ')} (median ${median})`,
        median > lower && median <= (most ?? Infinity),
      )
    })
    .reverse()
}

/** Dull rounds that nevertheless return light, and the score that they must stay below. */
const dullDesigns: readonly (readonly [string, Partial<RoundMeasures>, number])[] = [
  ['a crown of 5° (Fair or worse)', { crown: 5 }, scoringGrades.integral[1]],
  ['a crown of 10° (Fair or worse)', { crown: 10 }, scoringGrades.integral[1]],
  ['a crown of 15° (Fair or worse)', { crown: 15 }, scoringGrades.integral[1]],
  ['a fish-eye: pavilion 38° (Fair or worse)', { pavilion: 38 }, scoringGrades.integral[1]],
  ['a nailhead: pavilion 44° (Fair or worse)', { pavilion: 44 }, scoringGrades.integral[1]],
  ['a table of 75 % (Fair or worse)', { table: 75 }, scoringGrades.integral[1]],
  [
    'steep and deep: crown 37°, pavilion 42.4° (Good or worse)',
    { crown: 37, pavilion: 42.4 },
    scoringGrades.integral[2],
  ],
]
