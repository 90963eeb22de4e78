import { facetThrough, type Facet } from '../solid/facet.ts'
import type { Proportions } from '../cut/proportions.ts'
import type { Vector } from '../solid/vector.ts'
import { wall } from './outline.ts'

const FOLD = 6

/**
 * The full Dutch rose: a flat base with twelve sides, and 24 triangles in two rows. Six meet in the point (the crown); of the 18 below them (the
 * dentelle) six hang from the crown's edges with their tips on the girdle, and twelve stand in pairs between those
 * (antiquejewelleryinformationcenter.wordpress.com, "Dutch rose cut"; Ure, Dictionary of Arts, "diamond").
 *
 * It has no table and no pavilion: `table` is what the crown leaves of the width, `crownHeight` the upper row's height,
 * `pavilionDepth` the lower row's.
 */
export function roseFacets({ table, crownHeight, pavilionDepth, girdle, lengthToWidth }: Proportions): Facet[] {
  const place = (radius: number, step: number, height: number): Vector => {
    const angle = (step * Math.PI) / FOLD
    return [radius * Math.cos(angle), radius * Math.sin(angle) * lengthToWidth, height]
  }
  const edge = girdle / 2
  const point: Vector = [0, 0, edge + pavilionDepth + crownHeight]
  const onCrown = (step: number) => place((1 - table) / 2, step, edge + pavilionDepth)
  const onGirdle = (step: number) => place(0.5, step, edge)
  const base: Facet = { part: 'pavilion', name: 'base', normal: [0, 0, -1], offset: edge }
  const around = Array.from({ length: FOLD }, (_, index) => 2 * index)
  return [
    ...around.flatMap((step) => [
      facetThrough('crown', 'star', point, onCrown(step), onCrown(step + 2)),
      facetThrough('crown', 'hanging', onCrown(step), onCrown(step + 2), onGirdle(step + 1)),
      facetThrough('crown', 'standing', onCrown(step), onGirdle(step - 1), onGirdle(step)),
      facetThrough('crown', 'standing', onCrown(step), onGirdle(step), onGirdle(step + 1)),
    ]),
    ...around.flatMap((step) => [side(onGirdle(step - 1), onGirdle(step)), side(onGirdle(step), onGirdle(step + 1))]),
    base,
  ]
}

/** The wall of the girdle over one side of the base. */
function side(from: Vector, to: Vector): Facet {
  const [x, y] = [to[1] - from[1], from[0] - to[0]]
  const long = Math.hypot(x, y)
  return wall({ at: from, outward: [x / long, y / long, 0] })
}
