import type { Case, Limit } from './group.ts'

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
  const { name, unit, target, limit } = benchCase
  const figure = median(ours)
  const unpaired: ResultRow = { name, unit, ours: figure, ...(limit && verdict(figure, limit, ` ${unit}`)) }
  if (baseline.length === 0) return unpaired
  const ratio = median(ours.map((each, round) => each / (baseline[round] ?? Number.NaN)))
  return { ...unpaired, baseline: median(baseline), ratio, ...(target && verdict(ratio, target, '')) }
}

function verdict(value: number, limit: Limit, unit: string): Pick<ResultRow, 'target' | 'ok'> {
  return 'min' in limit
    ? { target: `>= ${formatLimit(limit.min)}${unit}`, ok: value >= limit.min }
    : { target: `<= ${formatLimit(limit.max)}${unit}`, ok: value <= limit.max }
}

const formatLimit = (value: number) => (value < 100 ? String(value) : value.toLocaleString('en'))

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
