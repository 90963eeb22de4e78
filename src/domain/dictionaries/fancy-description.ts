import { comparedText } from '../visible-text.ts'
import { colorHue } from './color-hue.ts'
import { colorModifier, fancyGrade } from './fancy-color.ts'

/** The fields of a fancy colour, by their titles. */
export type FancyColor = { readonly fancyGrade: string; readonly colorModifier?: string; readonly colorHue: string }

/** Grades by the number of their words: `Fancy Light` goes before `Fancy`. */
const GRADES = fancyGrade.all
  .map(({ title }) => title)
  .toSorted((one, other) => other.split(' ').length - one.split(' ').length)

/** Letters of a hue that is written out: in a description `B` is no blue. */
const WORD = 3

/**
 * The grade, modifier and hue that a description of a colour names, as the GIA writes it: `Fancy Intense Brownish Yellow`,
 * `Natural, Fancy Light Yellow, Even`. undefined for any other text.
 */
export function readFancyColor(text: string): FancyColor | undefined {
  const said = comparedText(text)
    .replace(/^natural,? /, '')
    .replace(/,.*$/, '')
  const grade = GRADES.find((title) => said.startsWith(`${title.toLowerCase()} `))
  if (grade === undefined) return undefined
  const words = said.slice(grade.length + 1).split(' ')
  for (let first = 0; first < words.length; first++) {
    const [before, hue] = [words.slice(0, first).join(' '), words.slice(first).join(' ')]
    const [modifier, id] = [colorModifier.find(before), hue.length < WORD ? undefined : colorHue.find(hue)]
    if (id === undefined || (before !== '' && modifier === undefined)) continue
    const tinted = modifier === undefined ? {} : { colorModifier: colorModifier.title(modifier) }
    return { fancyGrade: grade, ...tinted, colorHue: colorHue.title(id) }
  }
  return undefined
}
