import { findNearMiss } from './edit-distance.ts'
import { comparisonKey } from '../visible-text.ts'

/** A cut shape. `parent` is null at the top level. Aliases are further accepted spellings, case-insensitive. */
type CutShapeDefinition = {
  readonly id: number
  readonly title: string
  readonly parent: number | null
  readonly aliases: readonly string[]
}

const root = (id: number, title: string, ...aliases: string[]): CutShapeDefinition => ({
  id,
  title,
  parent: null,
  aliases,
})
const childShape = (parent: number, id: number, title: string, ...aliases: string[]): CutShapeDefinition => ({
  id,
  title,
  parent,
  aliases,
})

/** The top-level shape that v3 shows for a shape outside the dictionary. */
export const OTHER_SHAPE_ID = 113

/** The platform prints `CUS RCRMB` as one spelling, which is probably two; all three are accepted. */
const CUSHION_MODIFIED = 'C,CUX,CU,CMB,CUSH,CUS RCRMB,CUS,RCRMB,CRC,CSC,CX,RCSB,SCMB,SCX'.split(',')

/** Laboratory reports describe princess cuts and rarely use the trade name. */
const PRINCESS_REPORT_NAMES = ['Square Modified Brilliant', 'Rectangular Modified Brilliant']

/**
 * The platform's eleven top-level shapes in its order, with its accepted values as aliases. The shapes below them have ids from
 * 200 up. The platform lists every short spelling of a cushion under its two kinds, so only the title names the parent. The two
 * square shapes are common in trade lists; the GIA's Square Emerald Cut is the trade's Asscher. Names of several words are those
 * of the GIA's and IGI's reports.
 */
const SHAPES: readonly CutShapeDefinition[] = [
  root(2, 'Round', 'B', 'BR', 'RB', 'RD', 'RBC', 'Round Brilliant', 'RND', 'Brilliant'),
  root(4, 'Princess', 'PRN', 'PR', 'PRIN', 'PN', 'PC', 'MDSQB', 'SMB', ...PRINCESS_REPORT_NAMES),
  root(9, 'Cushion'),
  root(11, 'Oval', 'O', 'OV', 'OMB'),
  root(80, 'Marquise', 'MQB', 'M', 'MQ'),
  root(22, 'Pear', 'P', 'PS', 'PSH', 'PB', 'PMB'),
  root(83, 'Radiant', 'R', 'RAD', 'RA', 'RC', 'RDN', 'CRB', 'RCRB', 'Cut-Cornered Rectangular Modified Brilliant'),
  root(90, 'Emerald', 'E', 'EM', 'EC', 'Cut-Cornered Rectangular Step Cut'),
  root(92, 'Asscher', 'A', 'CSS', 'CSSC', 'AC'),
  root(85, 'Heart', 'H', 'HS', 'HT', 'MHRC'),
  root(OTHER_SHAPE_ID, 'Other'),
  childShape(9, 200, 'Cushion Brilliant', 'CB'),
  childShape(9, 201, 'Cushion Modified', ...CUSHION_MODIFIED),
  childShape(92, 202, 'Square Emerald', 'Square Emerald Cut', 'SQE', 'Cut-Cornered Square Step Cut'),
  childShape(83, 203, 'Square Radiant', 'SQR', 'Cut-Cornered Square Modified Brilliant'),
]

const byId: ReadonlyMap<number, CutShapeDefinition> = new Map(SHAPES.map((shape) => [shape.id, shape]))

const SHORT_ALIAS = 3

const ABBREVIATIONS: Readonly<Record<string, string>> = { sq: 'square', rect: 'rectangular', mod: 'modified' }

/** The words of a description such as `Cut-Cornered Rect. Mod. Brilliant`, in lower case and expanded. */
const descriptionWords = (text: string): readonly string[] =>
  (comparisonKey(text).match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => ABBREVIATIONS[word] ?? word)

/** Titles and aliases in lower case. No spelling occurs twice. */
const bySpelling: ReadonlyMap<string, number> = new Map(
  SHAPES.flatMap((shape) =>
    [shape.title, ...shape.aliases].map((spelling): [string, number] => [comparisonKey(spelling), shape.id]),
  ),
)

const byWords: ReadonlyMap<string, number> = new Map(
  [...bySpelling].flatMap(([spelling, id]): [string, number][] =>
    spelling.length > SHORT_ALIAS ? [[descriptionWords(spelling).join(' '), id]] : [],
  ),
)

/** Words that laboratories add to a shape's name, least specific first. */
const QUALIFIER_WORDS: readonly (readonly string[])[] = [
  ['cut', 'shape', 'shaped'],
  ['brilliant'],
  ['modified'],
  ['square', 'rectangular', 'elongated', 'long'],
]

/** The shape named in a laboratory's description such as `Pear Modified Brilliant`. Drops the least specific words until it matches. */
function findShapeByDescription(text: string): number | undefined {
  let words = descriptionWords(text)
  let found = byWords.get(words.join(' '))
  for (const qualifiers of QUALIFIER_WORDS) {
    if (found !== undefined) return found
    words = words.filter((word) => !qualifiers.includes(word))
    found = byWords.get(words.join(' '))
  }
  return found
}

/** Aliases longer than this are words, not abbreviations. */
const LONG_ALIAS = 9

export const SHAPE_IDS: readonly number[] = SHAPES.map(({ id }) => id)

export const isShapeId = (id: number): boolean => byId.has(id)

/** The id for a title, an alias or a laboratory's description; undefined for a text that is stored as written. */
export const parseShape = (text: string): number | undefined =>
  bySpelling.get(comparisonKey(text)) ?? findShapeByDescription(text)

/** Candidates for suggestions. Short aliases are left out, since they are close to almost any short text. */
const SUGGESTIONS = SHAPES.flatMap(({ title, aliases }) => [
  title,
  ...aliases.filter((alias) => alias.length > LONG_ALIAS),
])

/** The title or alias that a text probably misspells; undefined for a shape outside the dictionary. */
export const suggestShape = (text: string): string | undefined => findNearMiss(text, SUGGESTIONS)

/** The title that v4 shows. @throws UnknownShape */
export const shapeTitle = (id: number): string => shapeOf(id).title

/** The top-level id that v3 shows. @throws UnknownShape */
export const rootShapeOf = (id: number): number => shapeOf(id).parent ?? id

/** The top-level id of a stored shape; Other for a text. @throws UnknownShape */
export const rootOfStored = (shape: number | string): number =>
  typeof shape === 'number' ? rootShapeOf(shape) : OTHER_SHAPE_ID

export class UnknownShape extends Error {
  override readonly name = 'UnknownShape'
}

function shapeOf(id: number): CutShapeDefinition {
  const shape = byId.get(id)
  if (shape === undefined) throw new UnknownShape(`there is no cut shape ${id}`)
  return shape
}

export type ShapeSummary = { readonly id: number; readonly title: string }
type ShapeTree = ShapeSummary & { readonly children: readonly ShapeSummary[] }
type ShapeDetail = ShapeTree & { readonly parent: number | null; readonly aliases: readonly string[] }

/** The dictionary cutShape of the Constants API, in the platform's order. */
export const topLevelShapes = (): readonly ShapeSummary[] =>
  SHAPES.filter(({ parent }) => parent === null).map(summaryOf)

export const cutShapeTree = (): readonly ShapeTree[] =>
  topLevelShapes().map(({ id, title }) => ({ id, title, children: childrenOf(id) }))

export function findCutShape(id: number): ShapeDetail | undefined {
  const shape = byId.get(id)
  if (shape === undefined) return undefined
  const { title, parent, aliases } = shape
  return { id, title, parent, aliases, children: childrenOf(id) }
}

const summaryOf = ({ id, title }: CutShapeDefinition): ShapeSummary => ({ id, title })
const childrenOf = (id: number): readonly ShapeSummary[] => SHAPES.filter(({ parent }) => parent === id).map(summaryOf)
