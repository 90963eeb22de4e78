import type { FieldName } from '../../domain/diamond/fields.ts'
import { comparedText } from '../../domain/visible-text.ts'

/** What people write, and what spreadsheet programs do in their languages; in small letters. */
const TRUE = [
  'true yes y 1 wahr ja vrai oui verdadero verdadeiro sí si sim vero sì waar prawda tak sant sand',
  'истина да doğru evet 真 是 אמת כן',
].flatMap((words) => words.split(' '))
const FALSE = [
  'false no n 0 falsch nein faux non falso não onwaar nee fałsz nie falskt falsk ложь нет yanlış hayır',
  '假 否 שקר לא',
].flatMap((words) => words.split(' '))

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...TRUE.map((word) => [word, true] as const),
  ...FALSE.map((word) => [word, false] as const),
])

/** `Lab Grown Diamond (CVD)`, `LGD`, `HPHT`: a column of origins or types says it in words. */
const GROWN =
  /^(?=.*[a-z])(?:(?:lab(?:oratory)?(?:[- ]?(?:grown|created|made))?|man[- ]?made|synthetic|cultured|grown|created|lgd?)(?: diamonds?)?)?[ (/-]*(?:cvd|hpht)?\)?$/
const NATURAL = /^(?=.*[a-z])(?:natural|nat|(?:earth[- ]?)?mined)?(?: ?diamonds?)?$/

/** Titles of the levels. Source: the original platform's table of accepted values. */
const LEVELS: Readonly<Partial<Record<FieldName, Readonly<Record<string, number>>>>> = {
  access: { restricted: 0, unlisted: 1, public: 2 },
  dataAccess: { 'hide all design data': 0, 'hide model and reports': 1, 'show all data': 2 },
}

/** The boolean that a cell is; undefined for what is none. */
export function booleanOf(name: FieldName, cell: string): boolean | undefined {
  const compared = comparedText(cell)
  const known = BOOLEANS.get(compared)
  if (known !== undefined || name !== 'isLabGrown') return known
  if (NATURAL.test(compared)) return false
  return GROWN.test(compared) ? true : undefined
}

/** The level that a cell names or numbers; undefined for what is none. */
export const levelOf = (name: FieldName, cell: string): number | undefined =>
  /^\d+$/.test(cell) ? Number(cell) : LEVELS[name]?.[comparedText(cell)]

/** What stands where there is no value, and prices that are not told. */
const NO_VALUE: ReadonlySet<string> = new Set(
  [
    '-|--|---|–|—|.|?|/|*|n/a|#n/a|na|n.a.|n.a|n/d|none|null|nil|nan|blank|(blank)|unknown|unspecified|not specified',
    'not applicable|not available|not graded|tbd|tba|poa|p.o.a.|p.o.a|por|p.o.r.|price on application|price on request',
    'on request|upon request|call|call for price|ask',
  ].flatMap((words) => words.split('|')),
)

/** Whether a cell says that there is no value. Ask only of what is no value of its field: `None` is a fluorescence. */
export const saysNoValue = (cell: string): boolean => NO_VALUE.has(comparedText(cell))
