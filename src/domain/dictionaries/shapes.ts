import { findNearMiss } from './edit-distance.ts'
import { comparisonKey } from '../visible-text.ts'

/** A cut shape. `parent` is null at the top level; aliases are further spellings, compared without regard to case. */
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

/** The top-level shape for whatever no dictionary knows. */
export const OTHER_SHAPE_ID = 113

/** The platform prints `CUS RCRMB` as one spelling, probably two: all three are taken. */
const CUSHION_MODIFIED = 'C,CUX,CU,CMB,CUSH,CUS RCRMB,CUS,RCRMB,CRC,CSC,CX,RCSB,SCMB,SCX'.split(',')

/** Laboratories describe princess cuts; the trade's name is on few reports. */
const PRINCESS_REPORT_NAMES = ['Square Modified Brilliant', 'Rectangular Modified Brilliant']

/**
 * The platform's eleven top-level shapes in its order, with its accepted values as aliases; below them shapes with ids of
 * ours, from 200 up. The platform's table has every short spelling of a cushion under its two kinds, so the title alone
 * names the root. The two square shapes are common in trade lists; the GIA's Square Emerald Cut is the trade's Asscher. Names in
 * several words are those of the GIA's and IGI's reports.
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

/** Characters of an abbreviation at most. */
const SHORT_ALIAS = 3

/** Abbreviations within a description. */
const WRITTEN_OUT: Readonly<Record<string, string>> = { sq: 'square', rect: 'rectangular', mod: 'modified' }

/** A description's words, with blanks for what stands between them: `Cut-Cornered Rect. Mod. Brilliant`. */
const descriptionWords = (text: string): readonly string[] =>
  (comparisonKey(text).match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => WRITTEN_OUT[word] ?? word)

/** Titles and aliases in small letters: no spelling stands twice, so that no order is needed among them. */
const bySpelling: ReadonlyMap<string, number> = new Map(
  SHAPES.flatMap((shape) =>
    [shape.title, ...shape.aliases].map((spelling): [string, number] => [comparisonKey(spelling), shape.id]),
  ),
)

/** Titles and aliases of several letters, as descriptions have them. */
const byWords: ReadonlyMap<string, number> = new Map(
  [...bySpelling].flatMap(([spelling, id]): [string, number][] =>
    spelling.length > SHORT_ALIAS ? [[descriptionWords(spelling).join(' '), id]] : [],
  ),
)

/** What laboratories say of a shape beside its name, the least telling first. */
const QUALIFIER_WORDS: readonly (readonly string[])[] = [
  ['cut', 'shape', 'shaped'],
  ['brilliant'],
  ['modified'],
  ['square', 'rectangular', 'elongated', 'long'],
]

/** The shape that a laboratory's description names, such as `Pear Modified Brilliant`: by all its words, else by the most telling. */
function findShapeByDescription(text: string): number | undefined {
  let words = descriptionWords(text)
  let found = byWords.get(words.join(' '))
  for (const least of QUALIFIER_WORDS) {
    if (found !== undefined) return found
    words = words.filter((word) => !least.includes(word))
    found = byWords.get(words.join(' '))
  }
  return found
}

/** Characters of an alias that is words and no abbreviation. */
const LONG_ALIAS = 9

/** All ids, of both levels. */
export const SHAPE_IDS: readonly number[] = SHAPES.map(({ id }) => id)

/** True for ids of the whole tree. */
export const isShapeId = (id: number): boolean => byId.has(id)

/** The id that a title, an alias or a laboratory's description names, of either level; undefined for a text to be kept as written. */
export const parseShape = (text: string): number | undefined =>
  bySpelling.get(comparisonKey(text)) ?? findShapeByDescription(text)

/** What a mistyped text most likely meant: titles, and aliases as long as them; the short ones are near to anything. */
const WORDS = SHAPES.flatMap(({ title, aliases }) => [title, ...aliases.filter((alias) => alias.length > LONG_ALIAS)])

/** The title or alias that a text is but for a letter or two; undefined for a shape of its own. */
export const suggestShape = (text: string): string | undefined => findNearMiss(text, WORDS)

/** What v4 shows: a shape's own title. @throws UnknownShape */
export const shapeTitle = (id: number): string => shapeOf(id).title

/** What v3 shows: the id of the top-level shape it belongs to, its own at the top level. @throws UnknownShape */
export const rootShapeOf = (id: number): number => shapeOf(id).parent ?? id

/** The top-level id of a shape as it is stored: Other for a text that no dictionary knows. @throws UnknownShape */
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
export type ShapeTree = ShapeSummary & { readonly children: readonly ShapeSummary[] }
export type ShapeDetail = ShapeTree & { readonly parent: number | null; readonly aliases: readonly string[] }

/** The dictionary cutShape: top-level shapes only, in the platform's order. */
export const topLevelShapes = (): readonly ShapeSummary[] => SHAPES.filter(({ parent }) => parent === null).map(nameOf)

/** Every top-level shape with those below it. */
export const cutShapeTree = (): readonly ShapeTree[] =>
  topLevelShapes().map(({ id, title }) => ({ id, title, children: childrenOf(id) }))

/** One shape of either level; undefined when there is none. */
export function findCutShape(id: number): ShapeDetail | undefined {
  const shape = byId.get(id)
  if (shape === undefined) return undefined
  const { title, parent, aliases } = shape
  return { id, title, parent, aliases, children: childrenOf(id) }
}

const nameOf = ({ id, title }: CutShapeDefinition): ShapeSummary => ({ id, title })
const childrenOf = (id: number): readonly ShapeSummary[] => SHAPES.filter(({ parent }) => parent === id).map(nameOf)
