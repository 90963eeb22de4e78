import { measuredProportions } from '../certification/measured.ts'
import { girdleRange } from '../dictionaries/girdle.ts'
import { culets, grades, type Culet, type Girdle, type Grade, type Shape } from '../scoring/cut/cut.ts'
import type { FluorColor, FluorIntensity } from '../scoring/fluor.ts'
import type { Stone } from '../scoring/cut/stone.ts'
import type { LiveDiamond } from './diamond.ts'
import { DICTIONARIES, type DiamondFields, type DictionaryName } from './fields.ts'
import { measuredOf } from './measured-stone.ts'

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
