import { FIELDS, type FieldName } from '../../domain/diamond/fields.ts'
import { fluorColor, fluorIntensity } from '../../domain/dictionaries/fluorescence.ts'
import type { Columns } from './columns.ts'

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
])

/** What a comma in a number is: as most of Europe writes it `0,71`, else between thousands, `1,200`. */
export type Comma = 'decimal' | 'thousands'

/**
 * A line as the v4 API would get it in JSON. An empty cell is null; what can't be read stays text, to be refused. Columns
 * that hold an end of a range each are put together to one text, `Thin-Medium`.
 */
export function asInput(columns: Columns, cells: readonly string[], comma: Comma): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const [index, name] of columns.entries()) {
    if (name === undefined) continue
    const cell = cells[index]?.trim() ?? ''
    const before = input[name] ?? null
    if (cell === '') input[name] = before
    else input[name] = before === null ? readCell(name, cell, comma) : `${String(before)}-${cell}`
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
function readCell(name: FieldName, cell: string, comma: Comma): unknown {
  switch (FIELDS[name].kind) {
    case 'text':
    case 'scale':
      return cell
    case 'flag':
      return TRUTHS.get(cell.toLowerCase()) ?? cell
    case 'amount':
      return readAmount(name === 'carat' ? cell.replace(UNIT, '') : cell, comma)
    case 'shape':
    case 'entry':
    case 'level':
      return /^\d+$/.test(cell) ? Number(cell) : cell
  }
}

/** GIA writes `0.51 carat`. */
const UNIT = /\s*(?:ct|cts|carat|carats)\.?$/i

function readAmount(cell: string, comma: Comma): unknown {
  const plain = plainNumber(cell, comma)
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : cell
}

/** `1.200,50` and `1,200.50` as 1200.50, each where its file writes numbers so. */
function plainNumber(cell: string, comma: Comma): string {
  const [between, point] = comma === 'decimal' ? ['.', ','] : [',', '.']
  if (GROUPED[comma].test(cell)) return cell.replaceAll(between, '').replace(point, '.')
  return comma === 'decimal' ? cell.replace(/^([+-]?\d*),(\d+)$/, '$1.$2') : cell
}

const GROUPED = {
  decimal: /^[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/,
  thousands: /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/,
} as const

/** Whether a weight is written with a decimal comma: stones weigh no thousands of carats. */
export const hasDecimalComma = (weight: string): boolean => /^\s*\d*,\d+\s*$/.test(weight.replace(UNIT, ''))
