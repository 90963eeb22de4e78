type Members = Readonly<Record<string, unknown>>

/** A value of a v4 body in words: a report by its laboratory and number, scores by one figure each; `-` is nothing. */
export function valueText(value: unknown): string {
  if (value === null) return '-'
  if (typeof value !== 'object') return String(value)
  const members = value as Members
  if ('laboratory' in members) return `${String(members['laboratory'])} ${reportText(members)}`
  const scores = Object.entries(members).flatMap(([name, score]) => scoreText(name, score))
  return scores.length > 0 ? scores.join(', ') : JSON.stringify(value)
}

const reportText = ({ number, file, warnings }: Members) =>
  [
    number === null ? 'without a number' : String(number),
    file === null ? 'no file' : 'with its file',
    ...(Array.isArray(warnings) ? warnings.map(String) : []),
  ].join(', ')

/** The one figure of a score that stands for it. */
function scoreText(name: string, score: unknown): string[] {
  if (typeof score !== 'object' || score === null) return []
  const figure = (score as Members)['val'] ?? (score as Members)['ct'] ?? (score as Members)['n']
  return typeof figure === 'number' ? [`${name} ${figure}`] : []
}
