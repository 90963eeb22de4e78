import {
  measuredProportions,
  type MeasuredProportions,
  type MeasuredSize,
} from '../certification/measured-proportions.ts'
import { parseGirdleRange } from '../dictionaries/girdle-and-culet.ts'
import {
  culets,
  grades,
  type Culet,
  type GirdleThickness,
  type Grade,
  type CutMeasurements,
  type CutShape,
} from '../scoring/cut/cut.ts'
import type { Stone } from '../scoring/cut/stone.ts'
import type { FluorColor, FluorIntensity } from '../scoring/fluor.ts'
import type { SymmetryFold } from '../scoring/mesh/symmetry.ts'
import type { LiveDiamond } from './diamond.ts'
import { DICTIONARIES, type DiamondFields, type DictionaryName } from './fields.ts'

/** What a report measured, in the words of the scoring model; nothing where it measured nothing. */
export function toStoneMeasurements(
  shape: CutShape,
  said: MeasuredProportions | undefined,
): Pick<Stone, 'measured' | 'face'> {
  if (said === undefined) return {}
  return shape === 'Briolette' ? brioletteMeasurements(shape, said) : facetedStoneMeasurements(shape, said)
}

/**
 * A drop that is faceted all around has a length and two widths alone, of which the larger is seen; reports write the length first, or last, as a
 * round's depth.
 */
function brioletteMeasurements(shape: CutShape, { size }: MeasuredProportions): Pick<Stone, 'measured' | 'face'> {
  if (size === undefined) return {}
  const [length = 0, width = 0, depth = 0] = [size.length, size.width, size.depth].sort((a, b) => b - a)
  return facetedStoneMeasurements(shape, { size: { length, width, depth } })
}

function facetedStoneMeasurements(shape: CutShape, said: MeasuredProportions): Pick<Stone, 'measured' | 'face'> {
  const measured = toCutMeasurements(shape, said)
  return {
    ...(Object.keys(measured).length > 0 && { measured }),
    ...(said.size !== undefined && { face: { length: said.size.length, width: said.size.width } }),
  }
}

const isRound = (shape: CutShape): boolean => shape === 'Round' || shape === 'OldEuropean'

/** A round's sides differ by how round it is, not by how long: its model is round. */
function toCutMeasurements(shape: CutShape, said: MeasuredProportions): CutMeasurements {
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
function depthIn(shape: CutShape, size: MeasuredSize | undefined): number | undefined {
  if (size === undefined) return undefined
  const { length, width, depth } = size
  return rounded((100 * depth) / (isRound(shape) ? (length + width) / 2 : Math.min(length, width)), 1)
}

/** Reports write the longer side first, or do not; a heart's length is the way from cleft to point, whichever is longer. */
const lengthToWidth = (shape: CutShape, { length, width }: MeasuredSize): number =>
  rounded(shape === 'Heart' ? length / width : Math.max(length, width) / Math.min(length, width), 3)

const rounded = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places

/** With a side longer by so much the facets of two neighbouring sides can't stand alike. */
const SQUARE = 1.01

/**
 * How a stone's facets should stand: as its shape's do.
 * @returns undefined for a shape of which nobody knows
 */
export function symmetryFoldOf({ fields, certifications, model }: LiveDiamond): SymmetryFold | undefined {
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
export function stoneOfOwnModel(diamond: LiveDiamond): Stone {
  const { measured: _measured, face: _face, ...stone } = stoneOf(diamond)
  return { ...stone, ownFacets: true }
}

/**
 * The facet model of each cut shape of the dictionary. A cushion of which no more is known is taken for a brilliant one;
 * a square emerald and a square radiant have the models of the shapes above them.
 */
const MODELS: Readonly<Record<number, CutShape>> = {
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
const CUT_SHAPES_BY_NAME: ReadonlyMap<string, CutShape> = new Map([
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
    ...optionalMember('cutGrade', gradeOf('cutQuality', fields.cutQuality)),
    ...optionalMember('polish', gradeOf('polish', fields.polish)),
    ...optionalMember('symmetry', gradeOf('symmetry', fields.symmetry)),
    ...optionalMember('culet', culetOf(fields.culetSize)),
    ...optionalMember('girdle', girdleOf(fields.girdle)),
    ...optionalMember('fluorIntensity', intensityOf(fields)),
    ...optionalMember('fluorColor', colorOf(fields)),
    ...toStoneMeasurements(shape, measuredProportions(diamond)),
  }
}

const optionalMember = <Name extends keyof Stone>(name: Name, value: Stone[Name]): Pick<Stone, Name> | undefined =>
  value === undefined ? undefined : ({ [name]: value } as Pick<Stone, Name>)

const shapeOf = (shape: number | string): CutShape =>
  (typeof shape === 'number' ? MODELS[shape] : CUT_SHAPES_BY_NAME.get(shape.toLowerCase())) ?? 'Other'

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

function girdleOf(text: string | null): GirdleThickness | undefined {
  const range = text === null ? undefined : parseGirdleRange(text)
  if (range === undefined) return undefined
  return range[0] === range[1] ? [range[0]] : range
}
