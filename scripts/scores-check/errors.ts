import { modelledShapes, type Grade } from '../../src/domain/scoring/cut/cut.ts'
import { errorMarginsOf } from '../../src/domain/scoring/error-margins.ts'
import { weight } from '../../src/domain/scoring/light/optics.ts'
import { relativePerformance } from '../../src/domain/scoring/score-formulas.ts'
import { referenceCut, findTracedCut } from '../../src/domain/scoring/score.ts'
import { referenceSolid, traceCut, traceSolid } from '../../src/domain/scoring/cut/trace-cut.ts'
import { says, type Check } from './check.ts'
import { plain, quantile } from './designs.ts'
import { relative } from './relative.ts'
import { realStones, words } from './stones.ts'

/** The margins for sampling alone, as fractions of the score. */
const sampled = errorMarginsOf({ ownFacets: true })
const NEARER = 0.8

/** With half the sample spacing in four dimensions, 16 times the rays, eight of ten cuts must change by less than d. */
export function errorChecks(): Check[] {
  const cuts = modelledShapes.flatMap((shape) => [plain(shape, 'Excellent'), plain(shape, 'Good')])
  const finest = 16
  const fineReference = traceSolid(referenceSolid(), { crown: 0, pavilion: 0 }, finest)
  const moved = cuts.map((cut) => {
    const fine = traceCut(cut, finest)
    const usual = findTracedCut(cut) ?? fine
    return {
      cut,
      brilliance: Math.abs(
        relativePerformance(fine, cut.shape, fineReference) / relativePerformance(usual, cut.shape, referenceCut) - 1,
      ),
      fire: Math.abs(fine.fire / fineReference.fire / (usual.fire / referenceCut.fire) - 1),
    }
  })
  return (['brilliance', 'fire'] as const).map((name) => {
    const parts = moved.map((one) => one[name])
    const [most, of] = [quantile(parts, NEARER), moved.find((one) => one[name] === Math.max(...parts))]
    return says(
      `${name}, half spacing: eight of ten of ${cuts.length} cuts`,
      `change by less than ${percent(sampled[name])}`,
      `${percent(most)} (most: ${percent(Math.max(...parts))}, ${of?.cut.shape} ${of?.cut.grade})`,
      most <= sampled[name],
    )
  })
}

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`

const STONES = 120

/** Percent: eight of ten, less the random error with 120 stones. */
const LEAST_COVERED = 75

/** Compares stones of the data set, traced with their own depth and table, with the scores of their grade. */
export function nominalChecks(): Check[] {
  const stones = realStones()
  const off = Array.from({ length: STONES }, (_, index) => {
    const stone = stones[Math.floor(((index + 0.5) / STONES) * stones.length)] ?? {}
    const grade = words.find(([word]) => word === stone['cut'])?.[1] ?? 'Fair'
    return distance(stone, grade)
  })
  return (['brilliance', 'fire', 'integral', 'spread'] as const).map((name) => {
    const covered = (100 * off.filter((stone) => stone[name].off <= stone[name].d).length) / off.length
    const [half, most] = [0.5, 0.9].map((part) =>
      quantile(
        off.map((stone) => stone[name].off),
        part,
      ),
    )
    return says(
      `${name}: of ${off.length} stones`,
      `at least ${LEAST_COVERED} % within d`,
      `${covered.toFixed(0)} % (half within ${half?.toFixed(3)}, nine of ten within ${most?.toFixed(3)})`,
      covered >= LEAST_COVERED,
    )
  })
}

function distance(stone: Record<string, string>, grade: Grade) {
  const measured = { tablePct: Number(stone['table']), depthPct: Number(stone['depth']) }
  const own = relative(traceCut({ ...plain('Round', grade), measured }, 0.25))
  const nominal = relative(findTracedCut(plain('Round', grade)) ?? referenceCut)
  const mm = (Number(stone['x']) + Number(stone['y'])) / 2
  const pc = 100 * (1 - Number(stone['carat']) / weight(referenceCut.volume, mm))
  const errors = errorMarginsOf({ shape: 'Round', cutGrade: grade })
  const beside = (name: 'brilliance' | 'fire' | 'integral') => ({
    off: Math.abs(own[name] - nominal[name]),
    d: nominal[name] * errors[name],
  })
  return {
    brilliance: beside('brilliance'),
    fire: beside('fire'),
    integral: beside('integral'),
    spread: { off: Math.abs(pc - nominal.pc), d: errors.spread },
  }
}
