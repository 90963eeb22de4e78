/** The simplest implementation of an inventory: the reference model that the real one is compared with. */
export type ModelStone = {
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
  /** Number of changes. */
  revision: number
  /** Number of changes up to the last one that invalidated scores. */
  scoredFrom: number
  /** Number of computed scores, and that number at the last score that was not outdated. */
  computed: number
  scored: number
  /** The current score, or null if there is none for the stone's current state. */
  score: number | null
}

export type Version = 'v3' | 'v4'
export type Fields = Partial<Pick<ModelStone, (typeof WRITABLE)[number]>>
export const WRITABLE = ['sku', 'price', 'isColored', 'isPublished', 'cutShape', 'clarity', 'girdle'] as const

/** The ids of shapes and grades in v3, which cannot distinguish those with the same id. */
export const SHAPES = { Round: 2, Cushion: 9, 'Cushion Brilliant': 9, Other: 113, 'My own cut': 113 } as const
export const CLARITIES = { IF: 2, VS2: 6 } as const
type Shape = keyof typeof SHAPES
type Clarity = keyof typeof CLARITIES

const SHAPE_OF: Readonly<Record<number, Shape>> = { 2: 'Round', 9: 'Cushion', 113: 'Other' }

/** The representation of a stone in a version of the API, reduced to the fields of the model. */
export function representationOf(version: Version, stone: ModelStone) {
  const { id, sku, price, isColored, isPublished, cutShape, clarity, girdle, score } = stone
  if (version === 'v4') return { id, sku, price, isColored, cutShape, clarity, girdle, score }
  return { id, sku, price, isColored, isPublished, cutShape: SHAPES[cutShape], clarity: gradeOf(clarity), score }
}

export const etagOf = ({ revision, scored }: ModelStone) => `"${revision}.${scored}"`

/** The fields as a request body in a version of the API, without those that the version lacks. */
export function toRequestBody(version: Version, fields: Fields): Record<string, unknown> {
  const { isPublished, girdle, cutShape, clarity, ...both } = fields
  const own =
    version === 'v4'
      ? { cutShape, clarity, girdle }
      : { isPublished, cutShape: cutShape && SHAPES[cutShape], clarity: gradeOf(clarity) }
  return Object.fromEntries(Object.entries({ ...both, ...own }).filter(([, value]) => value !== undefined))
}

const gradeOf = (clarity: Clarity | null | undefined) =>
  clarity === null || clarity === undefined ? clarity : CLARITIES[clarity]

/** The fields that a request in a version sets on a stone with this shape, or on a new one. */
export function interpret(version: Version, fields: Fields, now?: Shape): Fields {
  const { isPublished, girdle, ...both } = fields
  if (version === 'v4') return { ...both, ...(girdle !== undefined && { girdle }) }
  const cutShape = fields.cutShape && shapeSetByV3(fields.cutShape, now)
  return { ...both, ...(isPublished !== undefined && { isPublished }), ...(cutShape !== undefined && { cutShape }) }
}

const shapeSetByV3 = (requested: Shape, now: Shape | undefined): Shape | undefined =>
  now !== undefined && SHAPES[requested] === SHAPES[now] ? now : SHAPE_OF[SHAPES[requested]]

/** Changes a stone. Setting a field to its current value is not a change. */
export function change(stone: ModelStone, version: Version, fields: Fields): void {
  const requested = interpret(version, fields, stone.cutShape)
  const changed = WRITABLE.filter((name) => requested[name] !== undefined && requested[name] !== stone[name])
  if (changed.length === 0) return
  Object.assign(stone, Object.fromEntries(changed.map((name) => [name, requested[name]])))
  stone.revision++
  if (!changed.includes('cutShape') && !changed.includes('girdle')) return
  stone.scoredFrom = stone.revision
  stone.score = null
}

/** Records scores that were computed for a revision of the stone. Outdated scores are ignored. */
export function score(stone: ModelStone, revision: number, value: number): void {
  stone.computed++
  if (revision < stone.scoredFrom) return
  stone.scored = stone.computed
  stone.score = value
}
