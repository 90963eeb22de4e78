import type { ModelledShape } from './cut.ts'
import type { Facet } from '../solid/facet.ts'
import type { Proportions } from './proportions.ts'
import { brioletteFacets, roseFacets } from '../shapes/roses.ts'
import { asscherFacets, baguetteFacets, emeraldFacets, princessFacets, radiantFacets } from '../shapes/steps.ts'
import {
  cushionBrilliantFacets,
  cushionModifiedFacets,
  heartFacets,
  marquiseFacets,
  oldMineFacets,
  pearFacets,
  roundFacets,
} from '../shapes/brilliants.ts'
import { trillionFacets } from '../shapes/trillion.ts'

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
