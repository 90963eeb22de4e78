/**
 * What leaning facets leave of a well-made stone's figures, as parts of them: at most 1, and the less the further they lean. Averages over
 * many stones and many ways to lean (lean.ts): what one way does to one stone says nothing of the next.
 */
export type LeanFactors = Readonly<Record<LeanFigure, number>>
export type LeanFigure = 'brilliance' | 'fire' | 'faceup' | 'avg'

/** Of a stone whose facets were traced as they lean, or do not. */
export const asTraced: LeanFactors = { brilliance: 1, fire: 1, faceup: 1, avg: 1 }
