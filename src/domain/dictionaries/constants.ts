import { clarity, color } from './color-and-clarity.ts'
import { colorHue } from './color-hue.ts'
import { cutQuality, polish, symmetry } from './cut-grades.ts'
import type { Entry, Hue } from './entry.ts'
import { colorModifier, fancyGrade, type FancyGrade } from './fancy-color.ts'
import { fluorColor, fluorIntensity } from './fluorescence.ts'
import type { DictionaryName } from './lookup.ts'
import { scoringGrades, scoringVersions, type GradeBounds, type ScoringName } from './scoring-constants.ts'
import { topShapes, type ShapeName } from './shapes.ts'

/** The Constants object of the v2 API. */
export type Constants = {
  readonly ver: string
  readonly dict: { readonly cutShape: readonly ShapeName[] } & {
    readonly [Name in Exclude<DictionaryName, 'fancyGrade' | 'colorHue'>]: readonly Entry[]
  } & { readonly fancyGrade: readonly FancyGrade[]; readonly colorHue: readonly Hue[] }
  readonly scoring: { readonly fluorescence: { readonly ver: string } } & {
    readonly [Name in ScoringName]: { readonly grades: GradeBounds; readonly ver: string }
  }
}

/** @param version the platform's, as in X-App-Version */
export function constants(version: string): Constants {
  return { ver: version, dict, scoring }
}

const dict: Constants['dict'] = {
  cutShape: topShapes(),
  color,
  clarity,
  cutQuality,
  polish,
  symmetry,
  fluorIntensity,
  fluorColor,
  fancyGrade,
  colorHue,
  colorModifier,
}

const scale = (name: ScoringName) => ({ grades: scoringGrades[name], ver: scoringVersions[name] })

const scoring: Constants['scoring'] = {
  fluorescence: { ver: scoringVersions.fluorescence },
  fire: scale('fire'),
  brightness: scale('brightness'),
  symmetry: scale('symmetry'),
  integral: scale('integral'),
}
