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

/** A line as the v4 API would get it in JSON. Empty cells are absent; what can't be read stays text, to be refused. */
export function asInput(columns: Columns, cells: readonly string[]): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const [index, name] of columns.entries()) {
    const cell = cells[index]?.trim() ?? ''
    if (name !== undefined && cell !== '') input[name] = readCell(name, cell)
  }
  return input
}

/** A sku is text whatever it looks like; numbers are amounts, levels, or ids of dictionaries. */
function readCell(name: string, cell: string): unknown {
  if (name === 'sku') return cell
  if (BOOLEANS.has(name)) return TRUTHS.get(cell.toLowerCase()) ?? cell
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : cell
}
