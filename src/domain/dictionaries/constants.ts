import { DICTIONARIES } from '../diamond/fields.ts'
import { FLUOR_VERSION } from '../diamond/fluor-score.ts'
import { OPTICS_VERSION } from '../../optics/version.ts'
import { topLevelShapes, type ShapeSummary } from './shapes.ts'

/** Upper bounds of the grades P, F, G, VG, EX and OU. P starts at 0; the bound of OU only scales a drawing. */
export type GradeBounds = readonly [number, number, number, number, number, number]

export type ScoringName = 'fire' | 'brightness' | 'symmetry' | 'integral'

/**
 * The Constants API's brightness is a diamond's `scores.brilliance`, its fluorescence is `scores.fluor`. Symmetry is graded by
 * val, the others by rg. The bounds are those of the original platform's Constants API, and the model is calibrated to them: on
 * GIA charts not used for calibration, the medians of rounds graded Good, Fair and Poor are in those grades, and the median of
 * Excellent rounds is in Excellent (docs/scoring.md; tested by `npm run scores:check -- "cut grades"`).
 */
export const scoringGrades: Readonly<Record<ScoringName, GradeBounds>> = {
  fire: [0.3, 0.5, 0.7, 0.85, 1, 1.3],
  brightness: [0.5, 0.7, 0.85, 0.95, 1.03, 1.3],
  symmetry: [2, 4, 6, 7, 8, 9],
  integral: [0.51, 0.69, 0.83, 0.93, 1.02, 1.27],
}

/** The versions of the computed scores, by their names in the Constants API. */
export const scoringVersions: Readonly<Record<ScoringName | 'fluorescence', string>> = {
  fluorescence: FLUOR_VERSION,
  fire: OPTICS_VERSION,
  brightness: OPTICS_VERSION,
  symmetry: OPTICS_VERSION,
  integral: OPTICS_VERSION,
}

type Constants = {
  readonly ver: string
  readonly dict: { readonly cutShape: readonly ShapeSummary[] } & {
    readonly [Name in keyof typeof DICTIONARIES]: (typeof DICTIONARIES)[Name]['entries']
  }
  readonly scoring: { readonly fluorescence: { readonly ver: string } } & {
    readonly [Name in ScoringName]: { readonly grades: GradeBounds; readonly ver: string }
  }
}

/** @param version the platform version, as in X-App-Version */
export function constants(version: string): Constants {
  return { ver: version, dict, scoring }
}

/** The platform shows colour before clarity, unlike the fields of a diamond; the other dictionaries are in field order. */
const { clarity, color, ...others } = DICTIONARIES

const dict = {
  cutShape: topLevelShapes(),
  ...Object.fromEntries(Object.entries({ color, clarity, ...others }).map(([name, { entries }]) => [name, entries])),
} as Constants['dict']

const gradesAndVersionOf = (name: ScoringName) => ({ grades: scoringGrades[name], ver: scoringVersions[name] })

const scoring: Constants['scoring'] = {
  fluorescence: { ver: scoringVersions.fluorescence },
  fire: gradesAndVersionOf('fire'),
  brightness: gradesAndVersionOf('brightness'),
  symmetry: gradesAndVersionOf('symmetry'),
  integral: gradesAndVersionOf('integral'),
}
