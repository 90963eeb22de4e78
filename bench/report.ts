import type { Case } from './group.ts'

/** Results of all rounds of one case. */
export type Rounds = { readonly of: Case; readonly ours: readonly number[]; readonly other: readonly number[] }

export type Line = {
  readonly name: string
  readonly unit: Case['unit']
  readonly ours: number
  readonly other?: number
  /** The median of the ratios per round, because whatever slows a round slows both sides. */
  readonly ratio?: number
  readonly target?: string
  readonly ok?: boolean
}

export function lineOf({ of, ours, other }: Rounds): Line {
  const line: Line = { name: of.name, unit: of.unit, ours: median(ours) }
  if (other.length === 0) return line
  const ratio = median(ours.map((figure, round) => figure / (other[round] ?? Number.NaN)))
  const compared: Line = { ...line, other: median(other), ratio }
  if (of.target === undefined) return compared
  return 'least' in of.target
    ? { ...compared, target: `>= ${of.target.least}`, ok: ratio >= of.target.least }
    : { ...compared, target: `<= ${of.target.most}`, ok: ratio <= of.target.most }
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** The results as a Markdown table, as in RESULTS.md. */
export function table(lines: readonly Line[]): string {
  const head = ['case', 'unit', 'ours', 'against', 'ratio', 'target', 'ok']
  const rows = [head, head.map(() => '---'), ...lines.map(cells)]
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function cells({ name, unit, ours, other, ratio, target, ok }: Line): string[] {
  const verdict = ok === undefined ? 'recorded' : ok ? 'yes' : 'NO'
  return [name, unit, figure(ours), figure(other), ratio?.toFixed(2) ?? '', target ?? '', verdict]
}

function figure(value: number | undefined): string {
  if (value === undefined) return ''
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}
