import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { fluorColor, fluorIntensity } from '../../domain/dictionaries/fluorescence.ts'
import { comparedText } from '../../domain/visible-text.ts'
import type { Columns } from './columns.ts'
import { amountOf, isAmount, type Decimals } from './numbers.ts'

/** What people write, and what spreadsheet programs do in their languages; in small letters. */
const TRUE = [
  'true yes y 1 wahr ja vrai oui verdadero verdadeiro sí si sim vero sì waar prawda tak sant sand',
  'истина да doğru evet 真 是 אמת כן',
].flatMap((words) => words.split(' '))
const FALSE = [
  'false no n 0 falsch nein faux non falso não onwaar nee fałsz nie falskt falsk ложь нет yanlış hayır',
  '假 否 שקר לא',
].flatMap((words) => words.split(' '))

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...TRUE.map((word) => [word, true] as const),
  ...FALSE.map((word) => [word, false] as const),
])

/**
 * A line as the v4 API would get it in JSON. An empty cell is null; what can't be read stays text, to be refused. Columns
 * that hold an end of a range each are put together to one text, `Thin-Medium`.
 */
export function asInput(columns: Columns, cells: readonly string[], decimals: Decimals): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const [index, name] of columns.entries()) {
    if (name === undefined) continue
    const cell = cells[index]?.trim() ?? ''
    const before = input[name] ?? null
    if (cell === '') input[name] = before
    else input[name] = before === null ? readCell(name, cell, decimals) : `${String(before)}-${cell}`
  }
  return columns.includes('fluorColor') ? input : withGlow(input)
}

/** GIA writes `Medium Blue` where others have two columns. */
function withGlow(input: Record<string, unknown>): Record<string, unknown> {
  const { fluorIntensity: both } = input
  if (typeof both !== 'string' || fluorIntensity.find(both) !== undefined) return input
  const [, intensity = '', color = ''] = /^(.*\S)\s+(\S+)$/.exec(both) ?? []
  if (fluorIntensity.find(intensity) === undefined || fluorColor.find(color) === undefined) return input
  return { ...input, fluorIntensity: intensity, fluorColor: color }
}

/** A text is one whatever it looks like; in JSON a number is an amount, a level, or an id of a dictionary. */
function readCell(name: FieldName, cell: string, decimals: Decimals): unknown {
  if (isAmount(name)) return amountOf(name, cell, decimals[name] ?? '.') ?? cell
  switch (FIELDS[name].kind) {
    case 'text':
    case 'scale':
      return cell
    case 'flag':
      return TRUTHS.get(comparedText(cell)) ?? cell
    case 'shape':
    case 'entry':
    case 'level':
      return /^\d+$/.test(cell) ? Number(cell) : cell
  }
}
