import type { FieldName } from '../../domain/diamond/fields.ts'
import { parseShape } from '../../domain/dictionaries/shapes.ts'
import type { Columns } from './columns.ts'
import { isAmount } from './numbers.ts'

/** A sum of the rows above, in languages of the trade; in small letters. */
const TOTAL = [
  'total totals subtotal sub-total sum sums average avg grand count qty summe summen gesamt gesamtsumme',
  'zwischensumme insgesamt mittelwert anzahl somme totaux sous-total moyenne totale totali somma suma',
  'totaal som totalt итого всего сумма סהכ סה"כ 合计 合計 总计 小计 कुल',
].flatMap((words) => words.split(' '))

/** What is counted, or said beside a sum. */
const COUNTED = [
  'stone stones diamond diamonds piece pieces pc pcs item items row rows line lines stein steine stück',
  'stk diamanten pierre pierres diamants pièces piedras pietre шт ct cts carat carats karat usd eur',
  'price weight value of for all in',
].flatMap((words) => words.split(' '))

const KNOWN: ReadonlySet<string> = new Set([...TOTAL, ...COUNTED])

/** Words of a cell, without numbers and what is written around them; a quote within a word belongs to it. */
const wordsOf = (cell: string): readonly string[] => cell.toLowerCase().match(/\p{L}[\p{L}\p{M}"'-]*/gu) ?? []

/** Fields by which a row is known to be a stone's. */
const TELLING: readonly FieldName[] = ['sku', 'cutShape']

/**
 * Whether a row is no stone but a total of those above: its words are those of totals and counts alone (`Total`,
 * `2 stones`), and none of them is a cut shape.
 */
export function isTotal(columns: Columns, cells: readonly string[]): boolean {
  const words = cells.flatMap(wordsOf)
  if (words.length === 0 || !words.every((word) => KNOWN.has(word))) return false
  return hasTotalOrCount(cells) && parseShape(cells[columns.indexOf('cutShape')] ?? '') === undefined
}

/** `Total`, or a number with what it counts. */
const hasTotalOrCount = (cells: readonly string[]): boolean =>
  cells.some((cell) => {
    const words = wordsOf(cell)
    const isCount = /^\d+\s+\D+$/.test(cell) && words.length > 0 && words.every((word) => COUNTED.includes(word))
    return isCount || words.some((word) => TOTAL.includes(word))
  })

/** Whether a row has numbers alone, and neither of the fields by which a stone is known: the last row may be a sum. */
export function isNumbersAlone(columns: Columns, cells: readonly string[]): boolean {
  const named = cells.flatMap((cell, index) => (cell === '' ? [] : [columns[index]]))
  const hasAmount = named.some((name) => name !== undefined && isAmount(name))
  return hasAmount && named.every((name) => name === undefined || !TELLING.includes(name)) && cells.every(isNumeric)
}

const isNumeric = (cell: string): boolean => cell === '' || (/\d/.test(cell) && wordsOf(cell).length === 0)
