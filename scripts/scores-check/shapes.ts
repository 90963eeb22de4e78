import { modelledShapes, type ModelledShape } from '../../src/optics/cut/cut.ts'
import { traceCut } from '../../src/optics/cut/trace-cut.ts'
import { tableLimits } from '../../src/optics/score-formulas.ts'
import { scoringGrades } from '../../src/domain/dictionaries/constants.ts'
import { makeCheck, excludeIfFailed, type Check } from './check.ts'
import { defaultCut } from './designs.ts'
import { nominalScores, relativeScores } from './relative-scores.ts'

/** The upper bound of Fair: an Excellent stone must score at least Good. */
const GOOD_BOUND = scoringGrades.integral[1]

/** Shapes whose Excellent stones score lower, with the reason. */
const excluded: Readonly<Partial<Record<ModelledShape, string>>> = {
  Pear: 'its point leaks: of 46 designs with other culets, mains and lower halves none scored more than 0.69',
  CushionBrilliant: 'no grades are published for cushions; it leaks under its corners',
  CushionModified: 'no grades are published for cushions; it leaks under its corners',
  Baguette: 'no grades are published for baguettes; its long flashes have little contrast',
  Rose: 'it has no pavilion: light leaves through its base, which is why it is set over foil',
  Briolette:
    'the facets at the back are like those at the front: light leaves through them, and enters through them in a hanging stone',
}

/**
 * One metric for all shapes, like that of the AGS, whose laboratories gave their best grade of light performance to rounds, princess cuts
 * (2005), emerald cuts (2006) and ovals (professionaljeweler.com, 22 June 2006; americangemsociety.org, "Supported shapes").
 */
function excellentChecks(): Check[] {
  return modelledShapes.map((shape) => {
    const { integral, brilliance } = nominalScores(shape, 'Excellent')
    const check = makeCheck(
      `${shape}, Excellent`,
      `integral over ${GOOD_BOUND}`,
      `${integral} (brilliance ${brilliance})`,
      integral > GOOD_BOUND,
    )
    const reason = excluded[shape]
    return reason === undefined ? check : excludeIfFailed(check, reason)
  })
}

/** Difference of table size in points between stones that are otherwise equal. */
const STEP = 7

/** Scores must decrease as the table grows beyond the largest published one. */
function tableChecks(): Check[] {
  return modelledShapes
    .filter((shape) => tableLimits[shape][0] > 0)
    .map((shape) => {
      const [widest] = tableLimits[shape]
      const tables = [widest, widest + STEP, widest + 2 * STEP]
      const found = tables.map(
        (tablePct) =>
          relativeScores(traceCut({ ...defaultCut(shape, 'Excellent'), measured: { tablePct } }), shape).integral,
      )
      const [within = NaN, beyond = NaN, far = NaN] = found
      return makeCheck(
        `${shape}, tables of ${tables.join(', ')} %`,
        'falls',
        found.join('  '),
        within > beyond && beyond > far,
      )
    })
}

export const shapeChecks = (): Check[] => [...excellentChecks(), ...tableChecks()]
