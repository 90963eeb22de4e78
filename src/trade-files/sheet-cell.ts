import { comparisonKey, visibleText } from '../domain/visible-text.ts'

/** A cell without a usable value: the text that it displays, and why it is none. */
export type UnusableCell = { readonly text: string; readonly problem: string }

/** A cell as displayed; a number if the file stores it as one. */
export type SheetCell = string | number | UnusableCell

/** The text that a cell displays. */
export const displayedText = (cell: SheetCell): string => (typeof cell === 'object' ? cell.text : String(cell))

/** Whether a cell is a placeholder. Check valid values of the field first: `None` is a fluorescence. */
export const isPlaceholder = (cell: string): boolean => PLACEHOLDERS.has(comparisonKey(cell))

/** Placeholders for a missing value or an undisclosed price. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(
  [
    '-|--|---|–|—|.|?|/|*|n/a|na|n.a.|n.a|n/d|none|null|nil|nan|blank|(blank)|unknown|unspecified|not specified',
    'not applicable|not available|not graded|tbd|tba|poa|p.o.a.|p.o.a|por|p.o.r.|price on application|price on request',
    'on request|upon request|call|call for price|ask',
  ].flatMap((words) => words.split('|')),
)

/** Whether a spreadsheet program has removed digits of a long number. */
export const isShortenedNumber = (text: string): boolean => SHORTENED_NUMBER.test(text)

/** `7.01235E+15`: a spreadsheet program shows a long number so, and writes no more digits to a text file. */
const SHORTENED_NUMBER = /^\d(?:[.,]\d+)?E[+-]\d{2,3}$/i

/** A text of a file as a cell. The error of a formula has no usable value, unless it is escaped as a text. */
export function cellOfText(rawText: string): SheetCell {
  const displayed = visibleText(rawText.replaceAll(BREAKS, ' '))
  const [, escaped] = AS_TEXT.exec(displayed) ?? []
  if (escaped !== undefined) return visibleText(escaped.replaceAll('""', '"'))
  const text = unescapeCell(displayed)
  if (text !== displayed) return text
  if (ERROR_VALUE.test(text)) return { text, problem: `${text} is the error of a formula, not a value` }
  return OVERFLOW.test(text)
    ? { text, problem: `${text} is what a column shows that is too narrow for its value` }
    : text
}

/**
 * Prefixes a text with an apostrophe if a spreadsheet program would execute it as a formula, or take it for a number, a date, a
 * time, a boolean or an error: `000071` would become 71, and `1-2` a day.
 */
export const escapeCell = (text: string): string => (isConverted(text) ? `'${text}` : text)

/**
 * Like `escapeCell`, but only for formulas, errors and texts with an apostrophe in front: a portal that reads the file takes an
 * apostrophe for a part of the stock number.
 */
export const escapeFormula = (text: string): string =>
  text.startsWith("'") || RUN.some((pattern) => pattern.test(text)) ? escapeCell(text) : text

const unescapeCell = (cell: string): string => (cell.startsWith("'") && isConverted(cell) ? cell.slice(1) : cell)

function isConverted(cell: string): boolean {
  const text = cell.replace(/^'+/, '')
  return !UNCHANGED_NUMBER.test(text) && CONVERTED.some((pattern) => pattern.test(text))
}

/** Line breaks and tabs within a cell. */
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g

/** `="00071"`: prevents a spreadsheet program from converting a text to a number. */
const AS_TEXT = /^="((?:[^"]|"")*)"$/

/**
 * Texts that a spreadsheet program executes as a formula, which could leak other cells, including full-width signs.
 * Source: OWASP, CSV Injection.
 */
const FORMULA = /^[=+\-@＝＋－＠]/

/**
 * Errors of formulas, such as `#N/A`, `#REF!` and `#DIV/0!`, also as localised programs write them (`#NV`, `#¡REF!`, `#Н/Д`).
 * Source: the error values in the documentation of Excel, Google Sheets and LibreOffice Calc (`Err:502`).
 */
const ERROR_VALUE =
  /^(?:#[¡¿]?[\p{L}/_]{2,}0?[!?]|#(?:[NН]\/[ABDTД]|NV|I\/T|YOK|HIÁNYZIK|BUSY|GETTING_DATA)|Err ?:5\d\d)$/iu

/** `####` */
const OVERFLOW = /^#{2,}$/

const RUN: readonly RegExp[] = [FORMULA, ERROR_VALUE, OVERFLOW]

/** A number that stays as it is: spreadsheet programs show up to eleven digits. */
const UNCHANGED_NUMBER = /^(?:0|[1-9]\d{0,10})$/

const MONTH =
  '(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|mrz|mär|mai|okt|dez|janv|févr|mars|avr|juin|juil|août|déc|ene|abr|ago|dic|gen|mag|giu|lug|set|ott)'

/** Sources: Microsoft's pages on automatic data conversion and on number and date formats; booleans as in `cells.ts`. */
const CONVERTED: readonly RegExp[] = [
  ...RUN,
  // 000071, 1,200, 3E5, 12 %
  /^[\d.,'\s]*\d[\d.,'\s]*(?:e[+-]?\d+)?\s?%?$/i,
  // 1-2, 5/6/26, 10:30, 1 1/2, 5 pm
  /^\d{1,4}(?:[-/.: ]\d{1,4}){1,2}(?:\s[ap]m?)?$|^\d{1,2}\s[ap]m?$/i,
  // MAR-1, 5 May 2026
  new RegExp(String.raw`^${MONTH}\.?[-/. ]?\d{1,4}$|^\d{1,2}[-/. ]?${MONTH}\.?(?:[-/. ]\d{1,4})?$`, 'i'),
  /^(?:true|false|wahr|falsch|vrai|faux|verdadero|falso|vero|waar|onwaar)$/i,
]
