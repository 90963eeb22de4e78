/** What `/metrics` prints, read again: its samples by the name of their figure. */
export type Exposition = {
  /** By name, the type that its head tells. */
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
}

export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** @throws Error for a line that Prometheus could not read, and for a figure that is told of twice */
export function readExposition(text: string): Exposition {
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n').filter(Boolean)) {
    const head = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line)
    if (head === null) samples.push(sampleOf(line))
    else if (head[1] === 'TYPE') {
      const [, , name = '', type = ''] = head
      if (types.has(name)) throw new Error(`${name} has two heads`)
      types.set(name, type)
    }
  }
  return { types, samples }
}

function sampleOf(line: string): Sample {
  const [, name = '', inBraces = '', value = ''] = /^([a-z_]+[a-z0-9_]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
  if (name === '' || Number.isNaN(Number(value))) throw new Error(`this is no sample: ${line}`)
  const labels = [...inBraces.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = '', of = '']) => [label, of] as const,
  )
  return { name, labels: Object.fromEntries(labels), value: Number(value) }
}

/** Of the samples with these labels, all together. */
export const sumOf = ({ samples }: Exposition, name: string, labels: Sample['labels'] = {}): number =>
  samples
    .filter(
      (sample) => sample.name === name && Object.entries(labels).every(([label, of]) => sample.labels[label] === of),
    )
    .reduce((sum, { value }) => sum + value, 0)
