import { parseGirdleRange } from '../dictionaries/girdle-and-culet.ts'
import { culets, grades, type Culet, type GirdleThickness, type Grade, type CutShape } from '../../optics/cut/cut.ts'
import type { Stone } from '../../optics/cut/stone.ts'
import type { SymmetryFold } from '../../optics/mesh/symmetry.ts'
import type { LiveDiamond } from './diamond.ts'
import { fluorScore } from './fluor-score.ts'
import { DICTIONARIES, type DiamondFields, type DictionaryName } from './fields.ts'
import { knownProportions, stoneMeasurementsOf, type KnownProportions } from './known-proportions.ts'

/** The inputs of a diamond's scores, as the scoring model names them. */
export function stoneOf(diamond: Pick<LiveDiamond, 'fields' | 'certifications'>): Stone {
  const stone = typicalStoneOf(diamond.fields)
  return { ...stone, ...stoneMeasurementsOf(stone, knownProportions(diamond, stone)) }
}

/** The proportions of a diamond that are known, and why some that its owner states are not used. */
export const proportionsOf = (diamond: Pick<LiveDiamond, 'fields' | 'certifications'>): KnownProportions =>
  knownProportions(diamond, typicalStoneOf(diamond.fields))

/** A stone with typical proportions of its shape and grade. */
function typicalStoneOf(fields: DiamondFields): Stone {
  return {
    shape: shapeOf(fields.cutShape),
    carat: fields.carat,
    ...optionalMember('cutGrade', gradeOf('cutQuality', fields.cutQuality)),
    ...optionalMember('polish', gradeOf('polish', fields.polish)),
    ...optionalMember('symmetry', gradeOf('symmetry', fields.symmetry)),
    ...optionalMember('culet', culetOf(fields.culetSize)),
    ...optionalMember('girdle', girdleOf(fields.girdle)),
    ...optionalMember('fluor', fluorScore(fields) ?? undefined),
  }
}

const shapeOf = (shape: number | string): CutShape =>
  (typeof shape === 'number' ? CUT_SHAPES_BY_ID[shape] : CUT_SHAPES_BY_NAME.get(shape.toLowerCase())) ?? 'Other'

/**
 * The facet model of each cut shape of the dictionary. A cushion of unknown kind is scored as a cushion brilliant; a square
 * emerald and a square radiant have the models of their parents.
 */
const CUT_SHAPES_BY_ID: Readonly<Record<number, CutShape>> = {
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

/** Cuts outside the dictionary, by their names in trade lists and reports: stored as text, but scored with their own models. */
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

const optionalMember = <Name extends keyof Stone>(name: Name, value: Stone[Name]): Pick<Stone, Name> | undefined =>
  value === undefined ? undefined : ({ [name]: value } as Pick<Stone, Name>)

function gradeOf(name: 'cutQuality' | 'polish' | 'symmetry', id: number | null): Grade | undefined {
  const title = titleOf(name, id)
  return grades.find((grade) => grade === title)
}

const titleOf = (name: DictionaryName, id: number | null) => (id === null ? undefined : DICTIONARIES[name].title(id))

/** Culet sizes are stored as short forms, which are the initials of the titles. */
const culetOf = (short: string | null): Culet | undefined =>
  short === null ? undefined : culets.find((culet) => culet.replaceAll(/[a-z ]/g, '') === short)

function girdleOf(text: string | null): GirdleThickness | undefined {
  const range = text === null ? undefined : parseGirdleRange(text)
  if (range === undefined) return undefined
  return range[0] === range[1] ? [range[0]] : range
}

/**
 * The rotational symmetry that a stone's facets should have.
 * @returns undefined for a shape whose symmetry is unknown
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
    // A briolette is seen through one of many equal facets, so no symmetry about that facet is defined.
    case 'Briolette':
    case 'Other':
      return undefined
  }
}

/** With a longer length to width, the facets of two neighbouring sides cannot be equal. */
const SQUARE = 1.01

/** The stone scored from its 3D model, which replaces the measurements of reports. */
export function stoneOfOwnModel(diamond: LiveDiamond): Stone {
  const { measured: _measured, face: _face, ...stone } = stoneOf(diamond)
  return { ...stone, ownFacets: true }
}
