/** What people read for a parameter of the list. */
export const LABELS = {
  'f[sku][]': 'SKU',
  'f[cutShape][]': 'Shape',
  'f[color][]': 'Colour',
  'f[clarity][]': 'Clarity',
  'f[isLabGrown]': 'Origin',
  'f[isColored]': 'Kind of colour',
  'f[hasScores]': 'Optical scores',
  sort: 'Order',
  limit: 'Stones on a page',
} as const

/** The same for those that are two, `f[caratFrom]` and `f[caratTo]`. */
export const RANGES = { carat: 'Carat', price: 'Price', integral: 'Performance', date: 'Created (UTC)' } as const

export type RangeName = keyof typeof RANGES

/** The two ends of a range, and what each is called. */
export const endsOf = (name: RangeName) =>
  [
    [`f[${name}From]`, `${RANGES[name]}, from`],
    [`f[${name}To]`, `${RANGES[name]}, to`],
  ] as const

const WORDS: readonly (readonly [string, string])[] = [
  ...Object.entries(LABELS).filter(([name]) => name.startsWith('f[')),
  ...(Object.keys(RANGES) as RangeName[]).flatMap(endsOf),
]

/** A sentence about a query, with the names that stand beside the fields of its form. */
export const inWords = (message: string): string =>
  WORDS.reduce((text, [name, label]) => text.replaceAll(name, label), message)
