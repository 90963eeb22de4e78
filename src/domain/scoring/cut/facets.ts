import type { ModelledShape } from './cut.ts'
import type { Facet } from '../solid/facet.ts'
import type { Proportions } from './proportions.ts'
import { princessFacets, radiantFacets } from '../shapes/chevron.ts'
import { cushionBrilliantFacets, cushionModifiedFacets } from '../shapes/cushion.ts'
import { heartFacets } from '../shapes/heart.ts'
import { marquiseFacets, pearFacets } from '../shapes/pointed.ts'
import { roundFacets } from '../shapes/round.ts'
import { asscherFacets, emeraldFacets } from '../shapes/step.ts'

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
}
