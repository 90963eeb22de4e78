/** One line of the table: a published figure beside ours. `excluded` says why a figure can't be met; it does not fail. */
export type Check = {
  readonly subject: string
  readonly published: string
  readonly ours: string
  readonly holds: boolean
  readonly excluded?: string
}

/** A number that must be within a tolerance of the published one. */
export function near(subject: string, published: number, ours: number, tolerance: number, places: number): Check {
  const holds = Math.abs(ours - published) <= tolerance + 1e-9
  return { subject, published: `${published.toFixed(places)} ± ${tolerance}`, ours: ours.toFixed(places), holds }
}

/** A number that must be within some percent of the published one. */
export function within(subject: string, published: number, ours: number, percent: number, places: number): Check {
  const off = 100 * (ours / published - 1)
  return {
    subject,
    published: `${published.toFixed(places)} ± ${percent} %`,
    ours: `${ours.toFixed(places)} (${off < 0 ? '' : '+'}${off.toFixed(1)} %)`,
    holds: Math.abs(off) <= percent,
  }
}

export const says = (subject: string, published: string, ours: string, holds: boolean): Check => ({
  subject,
  published,
  ours,
  holds,
})

/** A check that may miss, for a reason that is printed. Where it holds, the reason is left out. */
export const unless = (check: Check, reason: string): Check => (check.holds ? check : { ...check, excluded: reason })

/**
 * What a chapter's lines are held against: figures that somebody published, figures that something else than the model computes, or what
 * must be so whatever the figures are.
 */
export type Kind = 'published' | 'computed apart' | 'property'

export function print(title: string, kind: Kind, checks: readonly Check[]): void {
  console.log(`\n${title} (${kind})`)
  for (const { subject, published, ours, holds, excluded } of checks) {
    const mark = holds ? 'ok  ' : excluded === undefined ? 'FAIL' : 'excl'
    console.log(`  ${mark}  ${subject.padEnd(46)} ${published.padEnd(28)} ${ours}`)
    if (!holds && excluded !== undefined) console.log(`        ${excluded}`)
  }
}
