import { fluorColor, fluorIntensity } from '../dictionaries/fluorescence.ts'
import type { DiamondFields } from './fields.ts'
import type { Scores } from '../../optics/scores.ts'

/** The version of the fluorescence score, which is taken from the report alone. */
export const FLUOR_VERSION = '1.0.0'

const NO_COLOR = fluorColor.find('None') ?? 0

/**
 * Fluorescence as reported by a laboratory: one intensity for the whole face; null without an intensity. The colour is None if
 * the stone does not fluoresce or no colour is given.
 */
export function fluorScore(fields: Pick<DiamondFields, 'fluorIntensity' | 'fluorColor'>): Scores['fluor'] {
  if (fields.fluorIntensity === null) return null
  const intensity = fluorIntensity.title(fields.fluorIntensity)
  const color = intensity === 'None' ? NO_COLOR : (fields.fluorColor ?? NO_COLOR)
  const share = (title: string) => Number(intensity === title)
  return {
    n: share('None'),
    f: share('Faint'),
    m: share('Medium'),
    s: share('Strong'),
    vs: share('Very Strong'),
    color,
    colorCode: fluorColor.short(color),
    ver: FLUOR_VERSION,
  }
}
