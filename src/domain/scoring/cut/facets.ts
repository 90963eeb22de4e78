import type { ModelledShape } from './cut.ts'
import type { Facet } from '../solid/facet.ts'
import type { Proportions } from './proportions.ts'
import { brioletteFacets } from '../shapes/briolette.ts'
import { princessFacets, radiantFacets } from '../shapes/chevron.ts'
import { cushionBrilliantFacets, cushionModifiedFacets, oldMineFacets } from '../shapes/cushion.ts'
import { heartFacets } from '../shapes/heart.ts'
import { marquiseFacets, pearFacets } from '../shapes/pointed.ts'
import { roseFacets } from '../shapes/rose.ts'
import { roundFacets } from '../shapes/round.ts'
import { asscherFacets, baguetteFacets, emeraldFacets } from '../shapes/step.ts'
import { trillionFacets } from '../shapes/trillion.ts'

/** The facet model of each shape. */
export const facetModels: Readonly<Record<ModelledShape, (proportions: Proportions) => Facet[]>> = {
  Round: roundFacets,
  Princess: princessFacets,
  CushionBrilliant: cushionBrilliantFacets,
  CushionModified: cushionModifiedFacets,
  Oval: roundFacets,
  Marquise: marquiseFacets,
  Pear: pearFacets,
  Radiant: radiantFacets,
  Emerald: emeraldFacets,
  Asscher: asscherFacets,
  Heart: heartFacets,
  Baguette: baguetteFacets,
  OldEuropean: roundFacets,
  OldMine: oldMineFacets,
  Trillion: trillionFacets,
  Rose: roseFacets,
  Briolette: brioletteFacets,
}
