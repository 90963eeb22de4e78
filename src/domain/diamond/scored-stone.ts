import { measuredProportions, type MeasuredProportions, type Size } from '../certification/measured.ts'
import { girdleRange } from '../dictionaries/girdle.ts'
import { culets, grades, type Culet, type Girdle, type Grade, type Measured, type Shape } from '../scoring/cut/cut.ts'
import type { Stone } from '../scoring/cut/stone.ts'
import type { FluorColor, FluorIntensity } from '../scoring/fluor.ts'
import type { Fold } from '../scoring/mesh/symmetry.ts'
import type { LiveDiamond } from './diamond.ts'
import { DICTIONARIES, type DiamondFields, type DictionaryName } from './fields.ts'

/** What a report measured, in the words of the scoring model; nothing where it measured nothing. */
export function measuredOf(shape: Shape, said: MeasuredProportions | undefined): Pick<Stone, 'measured' | 'face'> {
  if (said === undefined) return {}
  return shape === 'Briolette' ? ofDrop(shape, said) : ofStone(shape, said)
}

/**
 * A drop that is faceted all around has a length and two widths alone, of which the larger is seen; reports write the length first, or last, as a
 * round's depth.
 */
function ofDrop(shape: Shape, { size }: MeasuredProportions): Pick<Stone, 'measured' | 'face'> {
  if (size === undefined) return {}
  const [length = 0, width = 0, depth = 0] = [size.length, size.width, size.depth].sort((a, b) => b - a)
  return ofStone(shape, { size: { length, width, depth } })
}

function ofStone(shape: Shape, said: MeasuredProportions): Pick<Stone, 'measured' | 'face'> {
  const measured = proportionsIn(shape, said)
  return {
    ...(Object.keys(measured).length > 0 && { measured }),
    ...(said.size !== undefined && { face: { length: said.size.length, width: said.size.width } }),
  }
}

const isRound = (shape: Shape): boolean => shape === 'Round' || shape === 'OldEuropean'

/** A round's sides differ by how round it is, not by how long: its model is round. */
function proportionsIn(shape: Shape, said: MeasuredProportions): Measured {
  const { table, depth = depthIn(shape, said.size), crownAngle, pavilionAngle, girdle, star, lower, size } = said
  return {
    ...(table !== undefined && { tablePct: table }),
    ...(depth !== undefined && { depthPct: depth }),
    ...(crownAngle !== undefined && { crownAngle }),
    ...(pavilionAngle !== undefined && { pavilionAngle }),
    ...(girdle !== undefined && { girdlePct: girdle }),
    ...(star !== undefined && { starPct: star }),
    ...(lower !== undefined && { lowerPct: lower }),
    ...(size !== undefined && !isRound(shape) && { lengthToWidth: lengthToWidth(shape, size) }),
  }
}

/** Percent of the mean diameter of a round, of the shorter side of others: what reports call total depth. */
function depthIn(shape: Shape, size: Size | undefined): number | undefined {
  if (size === undefined) return undefined
  const { length, width, depth } = size
  return rounded((100 * depth) / (isRound(shape) ? (length + width) / 2 : Math.min(length, width)), 1)
}

/** Reports write the longer side first, or do not; a heart's length is the way from cleft to point, whichever is longer. */
const lengthToWidth = (shape: Shape, { length, width }: Size): number =>
  rounded(shape === 'Heart' ? length / width : Math.max(length, width) / Math.min(length, width), 3)

const rounded = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places

/** With a side longer by so much the facets of two neighbouring sides can't stand alike. */
const SQUARE = 1.01

/**
 * How a stone's facets should stand: as its shape's do.
 * @returns undefined for a shape of which nobody knows
 */
export function foldOf({ fields, certifications, model }: LiveDiamond): Fold | undefined {
  const { shape = 'Other' } = stoneOf({ fields, certifications })
  const { length = 1, width = 1 } = model?.measurements ?? {}
  switch (shape) {
    case 'Round':
    case 'OldEuropean':
      return 8
    case 'Princess':
    case 'Asscher':
    case 'CushionBrilliant':
    case 'CushionModified':
    case 'Radiant':
    case 'OldMine':
      return length / width < SQUARE ? 4 : 2
    case 'Oval':
    case 'Marquise':
    case 'Emerald':
    case 'Baguette':
    case 'Rose':
      return 2
    case 'Pear':
    case 'Heart':
    case 'Trillion':
      return 1
    // Its largest facet, which is looked at, is one of many: nobody knows how the others should stand beside it.
    case 'Briolette':
    case 'Other':
      return undefined
  }
}

/** A stone as it is scored from its own facets: what a report measured of it is in them, too. */
export function ownStone(diamond: LiveDiamond): Stone {
  const { measured: _measured, face: _face, ...stone } = stoneOf(diamond)
  return { ...stone, ownFacets: true }
}

/**
 * The facet model of each cut shape of the dictionary. A cushion of which no more is known is taken for a brilliant one;
 * a square emerald and a square radiant have the models of the shapes above them.
 */
const MODELS: Readonly<Record<number, Shape>> = {
  2: 'Round',
  4: 'Princess',
  9: 'CushionBrilliant',
  11: 'Oval',
  22: 'Pear',
  80: 'Marquise',
  83: 'Radiant',
  85: 'Heart',
  90: 'Emerald',
  92: 'Asscher',
  200: 'CushionBrilliant',
  201: 'CushionModified',
  202: 'Asscher',
  203: 'Radiant',
}

/** Cuts that are no shapes of the dictionary, as they are written in trade lists and reports: kept as text, and scored by their models. */
const NAMED: ReadonlyMap<string, Shape> = new Map([
  ...['baguette', 'straight baguette', 'baguette cut', 'rectangular step cut'].map(
    (name) => [name, 'Baguette'] as const,
  ),
  ...['old european', 'old european cut', 'old european brilliant', 'european cut', 'oec'].map(
    (name) => [name, 'OldEuropean'] as const,
  ),
  ...['trillion', 'trilliant', 'trillion cut', 'trilliant cut', 'triangular brilliant', 'triangle brilliant'].map(
    (name) => [name, 'Trillion'] as const,
  ),
  ...['rose', 'rose cut', 'dutch rose', 'full rose', 'rose cut round'].map((name) => [name, 'Rose'] as const),
  ...['briolette', 'briolette cut', 'briolette drop'].map((name) => [name, 'Briolette'] as const),
  ...['old mine', 'old mine cut', 'old mine brilliant', 'old miner', 'omc'].map((name) => [name, 'OldMine'] as const),
])

/** What a diamond's scores are computed from, in the words of the scoring model. */
export function stoneOf(diamond: Pick<LiveDiamond, 'fields' | 'certifications'>): Stone {
  const { fields } = diamond
  const shape = shapeOf(fields.cutShape)
  return {
    shape,
    carat: fields.carat,
    ...given('cutGrade', gradeOf('cutQuality', fields.cutQuality)),
    ...given('polish', gradeOf('polish', fields.polish)),
    ...given('symmetry', gradeOf('symmetry', fields.symmetry)),
    ...given('culet', culetOf(fields.culetSize)),
    ...given('girdle', girdleOf(fields.girdle)),
    ...given('fluorIntensity', intensityOf(fields)),
    ...given('fluorColor', colorOf(fields)),
    ...measuredOf(shape, measuredProportions(diamond)),
  }
}

const given = <Name extends keyof Stone>(name: Name, value: Stone[Name]): Pick<Stone, Name> | undefined =>
  value === undefined ? undefined : ({ [name]: value } as Pick<Stone, Name>)

const shapeOf = (shape: number | string): Shape =>
  (typeof shape === 'number' ? MODELS[shape] : NAMED.get(shape.toLowerCase())) ?? 'Other'

const titleOf = (name: DictionaryName, id: number | null) => (id === null ? undefined : DICTIONARIES[name].title(id))

function gradeOf(name: 'cutQuality' | 'polish' | 'symmetry', id: number | null): Grade | undefined {
  const found = titleOf(name, id)
  return grades.find((grade) => grade === found)
}

const INTENSITIES: readonly FluorIntensity[] = ['None', 'Faint', 'Medium', 'Strong', 'Very Strong']
const COLORS: readonly FluorColor[] = ['None', 'Blue', 'White', 'Yellow', 'Orange', 'Red', 'Green']

function intensityOf({ fluorIntensity }: DiamondFields): FluorIntensity | undefined {
  const found = titleOf('fluorIntensity', fluorIntensity)
  return INTENSITIES.find((intensity) => intensity === found)
}

function colorOf({ fluorColor }: DiamondFields): FluorColor | undefined {
  const found = titleOf('fluorColor', fluorColor)
  return COLORS.find((color) => color === found)
}

/** Culet sizes are stored by their short forms: the initials of the titles. */
const culetOf = (short: string | null): Culet | undefined =>
  short === null ? undefined : culets.find((culet) => culet.replaceAll(/[a-z ]/g, '') === short)

function girdleOf(text: string | null): Girdle | undefined {
  const range = text === null ? undefined : girdleRange(text)
  if (range === undefined) return undefined
  return range[0] === range[1] ? [range[0]] : range
}
