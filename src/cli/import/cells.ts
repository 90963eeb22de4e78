import type { Columns } from './columns.ts'

const BOOLEANS: ReadonlySet<string> = new Set(['isColored', 'isLabGrown'])
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

/** A line as the v4 API would get it in JSON. Empty cells are absent; what can't be read stays text, to be refused. */
export function asInput(columns: Columns, cells: readonly string[], comma: Comma): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const [index, name] of columns.entries()) {
    const cell = cells[index]?.trim() ?? ''
    if (name !== undefined && cell !== '') input[name] = readCell(name, cell, comma)
  }
  return input
}

/** A sku is text whatever it looks like; numbers are amounts, levels, or ids of dictionaries. */
function readCell(name: string, cell: string, comma: Comma): unknown {
  if (name === 'sku') return cell
  if (BOOLEANS.has(name)) return TRUTHS.get(cell.toLowerCase()) ?? cell
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
export const hasDecimalComma = (weight: string): boolean => /^\s*\d*,\d+\s*$/.test(weight)
