/** What an inventory is, in as few words as there are: the model that the real one is compared with. */
export type PlainStone = {
  readonly id: number
  readonly owner: number
  /** Seconds since 1970. */
  readonly date: number
  sku: string
  price: number | null
  isColored: boolean
  isPublished: boolean
  cutShape: Shape
  clarity: Clarity | null
  girdle: 'Thin' | null
  /** Changes so far. */
  revision: number
  /** Changes until the last one that scores depend on. */
  scoredFrom: number
  /** Scores computed so far, and those among them that counted. */
  computed: number
  scored: number
  /** The score's value, null where there is none of the stone as it is now. */
  score: number | null
}

export type Version = 'v3' | 'v4'
export type Fields = Partial<Pick<PlainStone, (typeof WRITABLE)[number]>>
export const WRITABLE = ['sku', 'price', 'isColored', 'isPublished', 'cutShape', 'clarity', 'girdle'] as const

/** Ids by which v3 tells shapes and grades; those of one id it can't tell apart. */
export const SHAPES = { Round: 2, Cushion: 9, 'Cushion Brilliant': 9, Other: 113, 'My own cut': 113 } as const
export const CLARITIES = { IF: 2, VS2: 6 } as const
type Shape = keyof typeof SHAPES
type Clarity = keyof typeof CLARITIES

const SHAPE_OF: Readonly<Record<number, Shape>> = { 2: 'Round', 9: 'Cushion', 113: 'Other' }

/** What a version shows of a stone, as far as the model goes. */
export function shownBy(version: Version, stone: PlainStone) {
  const { id, sku, price, isColored, isPublished, cutShape, clarity, girdle, score } = stone
  if (version === 'v4') return { id, sku, price, isColored, cutShape, clarity, girdle, score }
  return { id, sku, price, isColored, isPublished, cutShape: SHAPES[cutShape], clarity: gradeOf(clarity), score }
}

export const etagOf = ({ revision, scored }: PlainStone) => `"${revision}.${scored}"`

/** The fields as a request of a version says them, without those that it does not know. */
export function asRequest(version: Version, fields: Fields): Record<string, unknown> {
  const { isPublished, girdle, cutShape, clarity, ...both } = fields
  const own =
    version === 'v4'
      ? { cutShape, clarity, girdle }
      : { isPublished, cutShape: cutShape && SHAPES[cutShape], clarity: gradeOf(clarity) }
  return Object.fromEntries(Object.entries({ ...both, ...own }).filter(([, value]) => value !== undefined))
}

const gradeOf = (clarity: Clarity | null | undefined) =>
  clarity === null || clarity === undefined ? clarity : CLARITIES[clarity]

/** What a request of a version means for a stone that has this shape, or for a new one. */
export function understood(version: Version, fields: Fields, now?: Shape): Fields {
  const { isPublished, girdle, ...both } = fields
  if (version === 'v4') return { ...both, ...(girdle !== undefined && { girdle }) }
  const cutShape = fields.cutShape && asV3Means(fields.cutShape, now)
  return { ...both, ...(isPublished !== undefined && { isPublished }), ...(cutShape !== undefined && { cutShape }) }
}

const asV3Means = (wanted: Shape, now: Shape | undefined): Shape | undefined =>
  now !== undefined && SHAPES[wanted] === SHAPES[now] ? now : SHAPE_OF[SHAPES[wanted]]

/** Changes a stone as the rules say; what stays as it is is no change. */
export function change(stone: PlainStone, version: Version, fields: Fields): void {
  const wanted = understood(version, fields, stone.cutShape)
  const changed = WRITABLE.filter((name) => wanted[name] !== undefined && wanted[name] !== stone[name])
  if (changed.length === 0) return
  Object.assign(stone, Object.fromEntries(changed.map((name) => [name, wanted[name]])))
  stone.revision++
  if (!changed.includes('cutShape') && !changed.includes('girdle')) return
  stone.scoredFrom = stone.revision
  stone.score = null
}

/** Scores that were computed for the stone as it was at a revision; those of an older stone don't count. */
export function score(stone: PlainStone, revision: number, value: number): void {
  stone.computed++
  if (revision < stone.scoredFrom) return
  stone.scored = stone.computed
  stone.score = value
}
