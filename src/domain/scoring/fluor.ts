import type { Scores } from '../diamond/scores.ts'
import { fluorColor } from '../dictionaries/fluorescence.ts'
import { FLUOR_VERSION } from './version.ts'

export type FluorIntensity = 'None' | 'Faint' | 'Medium' | 'Strong' | 'Very Strong'
export type FluorColor = 'None' | 'Blue' | 'White' | 'Yellow' | 'Orange' | 'Red' | 'Green'

/**
 * Fluorescence as reported by a laboratory: one intensity for the whole face; null without an intensity. The colour is None if
 * the stone does not fluoresce or no colour is given.
 */
export function fluorScore(intensity: FluorIntensity | undefined, color: FluorColor = 'None'): Scores['fluor'] {
  if (intensity === undefined) return null
  const title = intensity === 'None' ? 'None' : color
  const { id, short } = fluorColor.entries.find((entry) => entry.title === title) ?? { id: 7, short: 'N' }
  const share = (of: FluorIntensity) => Number(intensity === of)
  return {
    n: share('None'),
    f: share('Faint'),
    m: share('Medium'),
    s: share('Strong'),
    vs: share('Very Strong'),
    color: id,
    colorCode: short,
    ver: FLUOR_VERSION,
  }
}
