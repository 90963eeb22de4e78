/** The parsed response of `/metrics`. */
export type Exposition = {
  /** The type of each metric, from its TYPE line, by name. */
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
}

export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** @throws Error for a line that Prometheus could not parse, or a repeated metric */
export function readExposition(text: string): Exposition {
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n').filter(Boolean)) {
    const head = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line)
    if (head === null) samples.push(sampleOf(line))
    else if (head[1] === 'TYPE') {
      const [, , name = '', type = ''] = head
      if (types.has(name)) throw new Error(`${name} has two TYPE lines`)
      types.set(name, type)
    }
  }
  return { types, samples }
}

function sampleOf(line: string): Sample {
  const [, name = '', inBraces = '', value = ''] = /^([a-z_]+[a-z0-9_]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
  if (name === '' || Number.isNaN(Number(value))) throw new Error(`not a sample: ${line}`)
  const labels = [...inBraces.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = '', of = '']) => [label, of] as const,
  )
  return { name, labels: Object.fromEntries(labels), value: Number(value) }
}

/** The sum of the samples with this name and these labels. */
export const sumOf = ({ samples }: Exposition, name: string, labels: Sample['labels'] = {}): number =>
  samples
    .filter(
      (sample) => sample.name === name && Object.entries(labels).every(([label, of]) => sample.labels[label] === of),
    )
    .reduce((sum, { value }) => sum + value, 0)
