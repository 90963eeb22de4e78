/** A check: an expected figure and ours. `excluded`: why the figure cannot be met; such a check does not fail. */
export type Check = {
  readonly subject: string
  readonly published: string
  readonly ours: string
  readonly holds: boolean
  readonly excluded?: string
}

export function nearPublished(
  subject: string,
  published: number,
  ours: number,
  tolerance: number,
  places: number,
): Check {
  const holds = Math.abs(ours - published) <= tolerance + 1e-9
  return { subject, published: `${published.toFixed(places)} ± ${tolerance}`, ours: ours.toFixed(places), holds }
}

export function withinPercent(
  subject: string,
  published: number,
  ours: number,
  percent: number,
  places: number,
): Check {
  const deviation = 100 * (ours / published - 1)
  return {
    subject,
    published: `${published.toFixed(places)} ± ${percent} %`,
    ours: `${ours.toFixed(places)} (${deviation < 0 ? '' : '+'}${deviation.toFixed(1)} %)`,
    holds: Math.abs(deviation) <= percent,
  }
}

export const makeCheck = (subject: string, published: string, ours: string, holds: boolean): Check => ({
  subject,
  published,
  ours,
  holds,
})

/** Excludes a check if it fails, for a reason that is printed. */
export const excludeIfFailed = (check: Check, reason: string): Check =>
  check.holds ? check : { ...check, excluded: reason }

/** What a chapter compares with: published figures, an independent computation, or a property that must hold for any figures. */
export type ChapterKind = 'published' | 'independent' | 'property'

export function print(title: string, kind: ChapterKind, checks: readonly Check[]): void {
  console.log(`\n${title} (${kind})`)
  for (const { subject, published, ours, holds, excluded } of checks) {
    const mark = holds ? 'ok  ' : excluded === undefined ? 'FAIL' : 'excl'
    console.log(`  ${mark}  ${subject.padEnd(46)} ${published.padEnd(28)} ${ours}`)
    if (!holds && excluded !== undefined) console.log(`        ${excluded}`)
  }
}
