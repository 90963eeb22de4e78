import { modelledShapes, type ModelledShape } from '../../src/domain/scoring/cut/cut.ts'
import { traceCut } from '../../src/domain/scoring/cut/trace-cut.ts'
import { tableLimits } from '../../src/domain/scoring/score-formulas.ts'
import { scoringGrades } from '../../src/domain/dictionaries/constants.ts'
import { referenceCut, tracedCuts } from '../../src/domain/scoring/score.ts'
import { says, unless, type Check } from './check.ts'
import { plain } from './designs.ts'
import { relative } from './relative.ts'

/** Fair ends here: an Excellent stone has to be Good at least. */
const GOOD = scoringGrades.integral[1]

/** Why Excellent stones of some shapes are less: what was tried within their published ranges. */
const excluded: Readonly<Partial<Record<ModelledShape, string>>> = {
  Pear: 'its point leaks: of 46 designs with other culets, mains and lower halves none was better than 0.69',
  CushionBrilliant: 'no grades are published of cushions; it leaks under its corners',
  CushionModified: 'no grades are published of cushions; it leaks under its corners',
  Baguette: 'no grades are published of baguettes; its long flashes have little contrast',
  Rose: 'it has no pavilion: light leaves through its base, which is why it is set over foil',
  Briolette:
    'the facets behind face as those before: light leaves through them, as it comes in when the stone hangs free',
}

/**
 * One metric for all shapes, as the AGS had: its laboratories gave their best grade of light performance to rounds, princess cuts (2005), emerald cuts (2006) and
 * ovals (professionaljeweler.com, 22 June 2006; americangemsociety.org, "Supported shapes").
 */
function excellentChecks(): Check[] {
  return modelledShapes.map((shape) => {
    const { integral, brilliance } = relative(tracedCuts[`${shape}, Excellent`] ?? referenceCut, shape)
    const check = says(
      `${shape}, Excellent`,
      `integral over ${GOOD}`,
      `${integral} (brilliance ${brilliance})`,
      integral > GOOD,
    )
    const reason = excluded[shape]
    return reason === undefined ? check : unless(check, reason)
  })
}

/** Points of table width between stones that have all else in common. */
const STEP = 7

/** A table within what is published takes nothing off, one far beyond it does, and the more the larger it is. */
function tableChecks(): Check[] {
  return modelledShapes
    .filter((shape) => tableLimits[shape][0] > 0)
    .map((shape) => {
      const [widest] = tableLimits[shape]
      const tables = [widest, widest + STEP, widest + 2 * STEP]
      const found = tables.map(
        (tablePct) => relative(traceCut({ ...plain(shape, 'Excellent'), measured: { tablePct } }), shape).integral,
      )
      const [within = NaN, beyond = NaN, far = NaN] = found
      return says(
        `${shape}, tables of ${tables.join(', ')} %`,
        'falls',
        found.join('  '),
        within > beyond && beyond > far,
      )
    })
}

export const shapeChecks = (): Check[] => [...excellentChecks(), ...tableChecks()]
