import { DICTIONARIES } from '../diamond/fields.ts'
import { scoringGrades, scoringVersions, type GradeBounds, type ScoringName } from './scoring-constants.ts'
import { topShapes, type ShapeName } from './shapes.ts'

/** The Constants object of the v2 API. */
export type Constants = {
  readonly ver: string
  readonly dict: { readonly cutShape: readonly ShapeName[] } & {
    readonly [Name in keyof typeof DICTIONARIES]: (typeof DICTIONARIES)[Name]['entries']
  }
  readonly scoring: { readonly fluorescence: { readonly ver: string } } & {
    readonly [Name in ScoringName]: { readonly grades: GradeBounds; readonly ver: string }
  }
}

/** @param version the platform's, as in X-App-Version */
export function constants(version: string): Constants {
  return { ver: version, dict, scoring }
}

/** The platform shows colour before clarity, which in a diamond comes first; the others are in the order of its fields. */
const { clarity, color, ...others } = DICTIONARIES

const dict = {
  cutShape: topShapes(),
  ...Object.fromEntries(Object.entries({ color, clarity, ...others }).map(([name, { entries }]) => [name, entries])),
} as Constants['dict']

const scale = (name: ScoringName) => ({ grades: scoringGrades[name], ver: scoringVersions[name] })

const scoring: Constants['scoring'] = {
  fluorescence: { ver: scoringVersions.fluorescence },
  fire: scale('fire'),
  brightness: scale('brightness'),
  symmetry: scale('symmetry'),
  integral: scale('integral'),
}
