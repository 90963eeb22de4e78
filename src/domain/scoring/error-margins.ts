import type { ModelledShape } from './cut/cut.ts'
import { isModelledShape, type Stone } from './cut/stone.ts'
import made from './drawn-errors.json' with { type: 'json' }

/**
 * What is known of a stone: its shape; its grade; its table and depth; its table and both angles; stars and lower halves as well. The rest
 * is taken from what is typical.
 */
export const knowledgeLevels = ['shape', 'grade', 'depth', 'angles', 'all'] as const
export type KnowledgeLevel = (typeof knowledgeLevels)[number]

/** All that is known of a stone: a report that lacks a figure counts as the next poorer one that has all of its. */
function knowledgeLevelsOf({ cutGrade, measured = {} }: Pick<Stone, 'cutGrade' | 'measured'>): KnowledgeLevel[] {
  const has = (...names: readonly (keyof typeof measured)[]) => names.every((name) => measured[name] !== undefined)
  const hasAngles = has('tablePct', 'crownAngle', 'pavilionAngle')
  const known: Readonly<Record<KnowledgeLevel, boolean>> = {
    shape: true,
    grade: cutGrade !== undefined,
    depth: has('tablePct', 'depthPct'),
    angles: hasAngles,
    all: hasAngles && has('starPct', 'lowerPct'),
  }
  return knowledgeLevels.filter((basis) => known[basis])
}

/**
 * By how much each score may be off: of stones of which as much is known, eight of ten lie nearer. Of brilliance, fire and integral
 * parts of the score; spread's is in points of pc, symmetry's on its scale of ten.
 */
export type ErrorMargins = Readonly<Record<'integral' | 'spread' | 'fire' | 'brilliance' | 'symmetry', number>>

/** Parts of the score; spread in points of pc. */
type ErrorMarginRow = readonly [brilliance: number, fire: number, integral: number, spread: number]

/** Of stones of which as much is known, eight of ten lie nearer; made by `npm run scores:build`. */
export const sampledErrorMargins = made as unknown as Readonly<
  Record<ModelledShape, Readonly<Record<KnowledgeLevel, ErrorMarginRow>>>
>

/** Of a stone that was traced from its own facets: what sampling and a scanner leave open. */
const own: ErrorMargins = { integral: 0.03, spread: 0.7, fire: 0.03, brilliance: 0.03, symmetry: 0.3 }

/** Spread from measured millimetres: a hundredth of one, and the outline between its length and width. */
const SPREAD_FROM_SIDES = 0.7

/** The report's word says no more of a stone's symmetry: nothing is published to hold this against. */
const SYMMETRY_OF_WORD = 0.6

/** What is known of a stone says how far to trust its scores: each thing can only make them surer. */
export function errorMarginsOf(
  stone: Pick<Stone, 'shape' | 'cutGrade' | 'measured' | 'face' | 'ownFacets'>,
): ErrorMargins {
  const { shape, face } = stone
  // A shape without a model is scored by its own facets alone.
  if (stone.ownFacets === true || shape === undefined || !isModelledShape(shape)) return own
  const rows = knowledgeLevelsOf(stone).map((basis) => sampledErrorMargins[shape][basis])
  const least = (member: 0 | 1 | 2 | 3) => Math.min(...rows.map((row) => row[member]))
  return {
    brilliance: least(0),
    fire: least(1),
    integral: least(2),
    spread: face === undefined ? least(3) : SPREAD_FROM_SIDES,
    symmetry: SYMMETRY_OF_WORD,
  }
}
