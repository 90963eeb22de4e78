import type { Facet } from '../solid/facet.ts'

/** A culet as wide as `culet` cuts the point off where the pavilion, similar to the outline, is that wide. `edge` is its upper end. */
export const culetFacet = (culet: number, pavilionDepth: number, edge: number): Facet => ({
  part: 'pavilion',
  name: 'culet',
  normal: [0, 0, -1],
  offset: -edge + pavilionDepth * (1 - culet),
})
