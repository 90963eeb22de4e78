import { FLUOR_VERSION, OPTICS_VERSION } from '../scoring/version.ts'

/** Upper bounds of the grades P, F, G, VG, EX and OU; P starts at 0, and OU's bound only scales a drawing. */
export type GradeBounds = readonly [number, number, number, number, number, number]

export type ScoringName = 'fire' | 'brightness' | 'symmetry' | 'integral'

/**
 * What the Constants API calls brightness is `scores.brilliance` of a diamond, fluorescence is `scores.fluor`.
 * The bounds are the platform's; symmetry is graded on val, the others on rg.
 */
export const scoringGrades: Readonly<Record<ScoringName, GradeBounds>> = {
  fire: [0.3, 0.5, 0.7, 0.85, 1, 1.3],
  brightness: [0.5, 0.7, 0.85, 0.95, 1.03, 1.3],
  symmetry: [2, 4, 6, 7, 8, 9],
  integral: [0.51, 0.69, 0.83, 0.93, 1.02, 1.27],
}

/** The versions of the scores that this service computes, by the names that the Constants API has for them. */
export const scoringVersions: Readonly<Record<ScoringName | 'fluorescence', string>> = {
  fluorescence: FLUOR_VERSION,
  fire: OPTICS_VERSION,
  brightness: OPTICS_VERSION,
  symmetry: OPTICS_VERSION,
  integral: OPTICS_VERSION,
}
