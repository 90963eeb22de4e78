import type { Stone } from '../scoring/cut/stone.ts'
import type { Fold } from '../scoring/mesh/symmetry.ts'
import type { LiveDiamond } from './diamond.ts'
import { stoneOf } from './scored-stone.ts'

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
