import { grades, modelledShapes, type Grade } from '../../src/domain/scoring/cut/cut.ts'
import { performance } from '../../src/domain/scoring/light/face-up.ts'
import { errorsOf } from '../../src/domain/scoring/errors.ts'
import { weight } from '../../src/domain/scoring/light/optics.ts'
import { tabled } from '../../src/domain/scoring/score.ts'
import { reference } from '../../src/domain/scoring/table.ts'
import {
  referenceSolid,
  solidOfCut,
  traceCut,
  traceSolid,
  type TracedCut,
} from '../../src/domain/scoring/cut/trace-cut.ts'
import { says, type Check } from './check.ts'
import { plain, quantile } from './designs.ts'
import { relative } from './relative.ts'
import { realStones, words } from './stones.ts'

/** Of stones whose grade is known, and of those of which sampling leaves most open. */
const errors = errorsOf({})
const sampled = errorsOf({ ownFacets: true })

/** Half the spacing in each of four dimensions is sixteen times the rays. */
export function errorChecks(): Check[] {
  const cuts = modelledShapes.map((shape) => plain(shape, 'Good'))
  const finest = 16
  const fineReference = traceSolid(referenceSolid(), { crown: 0, pavilion: 0 }, finest)
  const moved = cuts.map((cut) => {
    const { solid, deviation } = solidOfCut(cut)
    const fine = traceSolid(solid, deviation, finest)
    const usual = tabled(cut) ?? fine
    return {
      cut,
      brilliance: change(usual, fine, fineReference, performance),
      fire: change(usual, fine, fineReference, ({ fire }) => fire),
    }
  })
  return moved.flatMap(({ cut, brilliance, fire }) => [
    says(
      `${cut.shape}: brilliance, spacing halved`,
      `moves by less than ${sampled.brilliance}`,
      brilliance.toFixed(4),
      brilliance < sampled.brilliance,
    ),
    says(
      `${cut.shape}: fire, spacing halved`,
      `moves by less than ${sampled.fire}`,
      fire.toFixed(4),
      fire < sampled.fire,
    ),
  ])
}

const change = (usual: TracedCut, fine: TracedCut, fineReference: TracedCut, of: (cut: TracedCut) => number) =>
  Math.abs(of(usual) / of(reference) - of(fine) / of(fineReference))

/** Tilts are one sample of what a grade of symmetry allows, and may by chance break up what a long shape leaks: by twice d at most. */
export function symmetryChecks(): Check[] {
  return modelledShapes.flatMap((shape) => {
    const stones = grades.map((symmetry) => relative(traceCut({ ...plain(shape, 'Excellent'), symmetry })))
    return (['brilliance', 'fire', 'integral'] as const).map((name) => {
      const values = stones.map((scores) => scores[name])
      const rise = Math.max(...values.map((value, index) => value - Math.min(...values.slice(0, index + 1))))
      const subject = `${shape}: ${name} by symmetry, Ideal to Poor`
      return says(subject, `rises by at most ${2 * errors[name]}`, values.join(' '), rise <= 2 * errors[name] + 1e-9)
    })
  })
}

const STONES_A_CUT = 16

/** Stones of the data set, traced by their own depth and table, beside the scores of their grade: half lie within d. */
export function nominalChecks(): Check[] {
  const stones = realStones()
  const off = words.flatMap(([word, grade]) => {
    const all = stones.filter(({ cut }) => cut === word)
    const picked = Array.from(
      { length: STONES_A_CUT },
      (_, index) => all[Math.floor(((index + 0.5) / STONES_A_CUT) * all.length)] ?? {},
    )
    return picked.map((stone) => distance(stone, grade))
  })
  return (['brilliance', 'fire', 'integral', 'spread'] as const).map((name) => {
    const distances = off.map((stone) => stone[name])
    const [half, most] = [quantile(distances, 0.5), quantile(distances, 0.9)]
    return says(
      `${name}: half of ${off.length} stones within`,
      String(errors[name]),
      `${half.toFixed(3)} (90 %: ${most.toFixed(3)})`,
      half <= errors[name],
    )
  })
}

/** How far a real round is from the scores of its grade. */
function distance(stone: Record<string, string>, grade: Grade) {
  const measured = { tablePct: Number(stone['table']), depthPct: Number(stone['depth']) }
  const { solid, deviation } = solidOfCut({ ...plain('Round', grade), measured })
  const own = relative(traceSolid(solid, deviation, 0.25))
  const nominal = relative(tabled(plain('Round', grade)) ?? reference)
  const mm = (Number(stone['x']) + Number(stone['y'])) / 2
  const pc = 100 * (1 - Number(stone['carat']) / weight(reference.volume, mm))
  return {
    brilliance: Math.abs(own.brilliance - nominal.brilliance),
    fire: Math.abs(own.fire - nominal.fire),
    integral: Math.abs(own.integral - nominal.integral),
    spread: Math.abs(pc - nominal.pc),
  }
}
