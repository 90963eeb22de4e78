import type { Facet } from '../solid/facet.ts'
import type { Proportions } from '../cut/proportions.ts'
import { brilliantFacets } from './brilliant.ts'
import { closedOutline, type Station } from './outline.ts'

const WALLS = 64
/** Exponents of the superellipse: 2 is an ellipse, 5 a pillow, more is nearer to a rectangle. */
const PILLOW = 5
const OLD_PILLOW = 3.2

/** The cushion brilliant: mains to the middle of each side and to each corner, as in a round. */
export function cushionBrilliantFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(pillow(proportions.lengthToWidth, PILLOW), proportions, { flatness: 0.81 })
}

/**
 * The modified cushion: its pavilion breaks below the girdle, where long lower halves stand steep over flat mains, which
 * leaves more weight in the pavilion and a crushed-ice look.
 */
export function cushionModifiedFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(pillow(proportions.lengthToWidth, PILLOW), proportions, { flatness: 0.82 })
}

/** The old mine cut: a rounder cushion, whose mains reach nearly to the girdle, since its lower halves are short. */
export function oldMineFacets(proportions: Proportions): Facet[] {
  return brilliantFacets(pillow(proportions.lengthToWidth, OLD_PILLOW), proportions, { flatness: 0.92 })
}

const pillow = (lengthToWidth: number, exponent: number) =>
  closedOutline((turn) => onSuperellipse(2 * Math.PI * turn, lengthToWidth, exponent), WALLS, 0)

function onSuperellipse(angle: number, lengthToWidth: number, exponent: number): Station {
  const power = (value: number, to: number) => Math.sign(value) * Math.abs(value) ** to
  const x = power(Math.cos(angle), 2 / exponent)
  const y = power(Math.sin(angle), 2 / exponent)
  const [across, along] = [power(x, exponent - 1), power(y, exponent - 1) / lengthToWidth]
  const steep = Math.hypot(across, along)
  return { at: [0.5 * x, 0.5 * lengthToWidth * y, 0], outward: [across / steep, along / steep, 0] }
}
