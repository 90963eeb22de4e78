import type { ModelledShape } from './cut/cut.ts'
import { isModelled, type Stone } from './cut/stone.ts'
import made from './drawn-errors.json' with { type: 'json' }

/**
 * What is known of a stone: its shape; its grade; its table and depth; its table and both angles; stars and lower halves as well. The rest
 * is taken from what is typical.
 */
export const bases = ['shape', 'grade', 'depth', 'angles', 'all'] as const
export type Basis = (typeof bases)[number]

/** All that is known of a stone: a report that lacks a figure counts as the next poorer one that has all of its. */
function basesOf({ cutGrade, measured = {} }: Pick<Stone, 'cutGrade' | 'measured'>): Basis[] {
  const has = (...names: readonly (keyof typeof measured)[]) => names.every((name) => measured[name] !== undefined)
  const hasAngles = has('tablePct', 'crownAngle', 'pavilionAngle')
  const known: Readonly<Record<Basis, boolean>> = {
    shape: true,
    grade: cutGrade !== undefined,
    depth: has('tablePct', 'depthPct'),
    angles: hasAngles,
    all: hasAngles && has('starPct', 'lowerPct'),
  }
  return bases.filter((basis) => known[basis])
}

/**
 * By how much each score may be off: of stones of which as much is known, eight of ten lie nearer. Of brilliance, fire and integral
 * parts of the score; spread's is in points of pc, symmetry's on its scale of ten.
 */
export type Errors = Readonly<Record<'integral' | 'spread' | 'fire' | 'brilliance' | 'symmetry', number>>

/** Parts of the score; spread in points of pc. */
type Row = readonly [brilliance: number, fire: number, integral: number, spread: number]

/** Of stones of which as much is known, eight of ten lie nearer; made by `npm run scores:build`. */
export const drawnErrors = made as unknown as Readonly<Record<ModelledShape, Readonly<Record<Basis, Row>>>>

/** Of a stone that was traced from its own facets: what sampling and a scanner leave open. */
const own: Errors = { integral: 0.03, spread: 0.7, fire: 0.03, brilliance: 0.03, symmetry: 0.3 }

/** Spread from measured millimetres: a hundredth of one, and the outline between its length and width. */
const SPREAD_FROM_SIDES = 0.7

/** The report's word says no more of a stone's symmetry: nothing is published to hold this against. */
const SYMMETRY_OF_WORD = 0.6

/** What is known of a stone says how far to trust its scores: each thing can only make them surer. */
export function errorsOf(stone: Pick<Stone, 'shape' | 'cutGrade' | 'measured' | 'face' | 'ownFacets'>): Errors {
  const { shape, face } = stone
  // A shape without a model is scored by its own facets alone.
  if (stone.ownFacets === true || shape === undefined || !isModelled(shape)) return own
  const rows = basesOf(stone).map((basis) => drawnErrors[shape][basis])
  const least = (member: 0 | 1 | 2 | 3) => Math.min(...rows.map((row) => row[member]))
  return {
    brilliance: least(0),
    fire: least(1),
    integral: least(2),
    spread: face === undefined ? least(3) : SPREAD_FROM_SIDES,
    symmetry: SYMMETRY_OF_WORD,
  }
}
