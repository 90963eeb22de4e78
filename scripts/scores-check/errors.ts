import { modelledShapes, type Grade } from '../../src/optics/cut/cut.ts'
import { errorMarginsOf } from '../../src/optics/error-margins.ts'
import { weight } from '../../src/optics/light/diamond-material.ts'
import { relativePerformance } from '../../src/optics/score-formulas.ts'
import { referenceCut, findTracedCut } from '../../src/optics/score.ts'
import { quickTracing, traceCut, traceReference } from '../../src/optics/cut/trace-cut.ts'
import { makeCheck, type Check } from './check.ts'
import { defaultCut, quantile } from './designs.ts'
import { nominalScores, relativeScores } from './relative-scores.ts'
import { realStones, datasetGrades } from './stones.ts'

/** The margins for sampling alone, as fractions of the score. */
const samplingMargins = errorMarginsOf({ ownFacets: true })
const COVERAGE = 0.8

/** With half the sample spacing in four dimensions, 16 times the rays, eight of ten cuts must change by less than d. */
export function errorChecks(): Check[] {
  const cuts = modelledShapes.flatMap((shape) => [defaultCut(shape, 'Excellent'), defaultCut(shape, 'Good')])
  const finest = { ...quickTracing, fineness: 16 }
  const fineReference = traceReference(finest)
  const changes = cuts.map((cut) => {
    const fine = traceCut(cut, finest)
    const normal = findTracedCut(cut) ?? fine
    return {
      cut,
      brilliance: Math.abs(
        relativePerformance(fine, cut.shape, fineReference) / relativePerformance(normal, cut.shape, referenceCut) - 1,
      ),
      fire: Math.abs(fine.fire / fineReference.fire / (normal.fire / referenceCut.fire) - 1),
    }
  })
  return (['brilliance', 'fire'] as const).map((name) => {
    const parts = changes.map((one) => one[name])
    const [bound, worst] = [quantile(parts, COVERAGE), changes.find((one) => one[name] === Math.max(...parts))]
    return makeCheck(
      `${name}, half spacing: eight of ten of ${cuts.length} cuts`,
      `change by less than ${formatPercent(samplingMargins[name])}`,
      `${formatPercent(bound)} (most: ${formatPercent(Math.max(...parts))}, ${worst?.cut.shape} ${worst?.cut.grade})`,
      bound <= samplingMargins[name],
    )
  })
}

const formatPercent = (part: number): string => `${(100 * part).toFixed(1)} %`

const STONES = 120

/** Percent: eight of ten, less the random error with 120 stones. */
const LEAST_COVERED = 75

/** Compares stones of the data set, traced with their own depth and table, with the scores of their grade. */
export function nominalChecks(): Check[] {
  const stones = realStones()
  const deviations = Array.from({ length: STONES }, (_, index) => {
    const stone = stones[Math.floor(((index + 0.5) / STONES) * stones.length)] ?? {}
    const grade = datasetGrades.find(([word]) => word === stone['cut'])?.[1] ?? 'Fair'
    return deviationsOf(stone, grade)
  })
  return (['brilliance', 'fire', 'integral', 'spread'] as const).map((name) => {
    const covered =
      (100 * deviations.filter((stone) => stone[name].deviation <= stone[name].d).length) / deviations.length
    const [half, most] = [0.5, 0.9].map((part) =>
      quantile(
        deviations.map((stone) => stone[name].deviation),
        part,
      ),
    )
    return makeCheck(
      `${name}: of ${deviations.length} stones`,
      `at least ${LEAST_COVERED} % within d`,
      `${covered.toFixed(0)} % (half within ${half?.toFixed(3)}, nine of ten within ${most?.toFixed(3)})`,
      covered >= LEAST_COVERED,
    )
  })
}

function deviationsOf(stone: Record<string, string>, grade: Grade) {
  const measured = { tablePct: Number(stone['table']), depthPct: Number(stone['depth']) }
  const own = relativeScores(traceCut({ ...defaultCut('Round', grade), measured }, { ...quickTracing, fineness: 0.25 }))
  const nominal = nominalScores('Round', grade)
  const mm = (Number(stone['x']) + Number(stone['y'])) / 2
  const pc = 100 * (1 - Number(stone['carat']) / weight(referenceCut.volume, mm))
  const errors = errorMarginsOf({ shape: 'Round', cutGrade: grade })
  const compare = (name: 'brilliance' | 'fire' | 'integral') => ({
    deviation: Math.abs(own[name] - nominal[name]),
    d: nominal[name] * errors[name],
  })
  return {
    brilliance: compare('brilliance'),
    fire: compare('fire'),
    integral: compare('integral'),
    spread: { deviation: Math.abs(pc - nominal.pc), d: errors.spread },
  }
}
