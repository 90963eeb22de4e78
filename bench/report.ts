import type { Case } from './group.ts'

/** Results of all rounds of one case. */
export type CaseRounds = {
  readonly benchCase: Case
  readonly ours: readonly number[]
  readonly baseline: readonly number[]
}

export type ResultRow = {
  readonly name: string
  readonly unit: Case['unit']
  readonly ours: number
  readonly baseline?: number
  /** The median of the ratios per round, because whatever slows a round slows both sides. */
  readonly ratio?: number
  readonly target?: string
  readonly ok?: boolean
}

export function summarize({ benchCase, ours, baseline }: CaseRounds): ResultRow {
  const unpaired: ResultRow = { name: benchCase.name, unit: benchCase.unit, ours: median(ours) }
  if (baseline.length === 0) return unpaired
  const ratio = median(ours.map((figure, round) => figure / (baseline[round] ?? Number.NaN)))
  const compared: ResultRow = { ...unpaired, baseline: median(baseline), ratio }
  if (benchCase.target === undefined) return compared
  return 'min' in benchCase.target
    ? { ...compared, target: `>= ${benchCase.target.min}`, ok: ratio >= benchCase.target.min }
    : { ...compared, target: `<= ${benchCase.target.max}`, ok: ratio <= benchCase.target.max }
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** The results as a Markdown table, as in RESULTS.md. */
export function toMarkdownTable(results: readonly ResultRow[]): string {
  const head = ['case', 'unit', 'ours', 'against', 'ratio', 'target', 'ok']
  const rows = [head, head.map(() => '---'), ...results.map(toCells)]
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function toCells({ name, unit, ours, baseline, ratio, target, ok }: ResultRow): string[] {
  const verdict = ok === undefined ? 'recorded' : ok ? 'yes' : 'NO'
  return [name, unit, formatFigure(ours), formatFigure(baseline), ratio?.toFixed(2) ?? '', target ?? '', verdict]
}

function formatFigure(value: number | undefined): string {
  if (value === undefined) return ''
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}
