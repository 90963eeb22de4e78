import type { Shape } from './cut.ts'

/** A table in percent of the width, and the frame of a typical stone whose table is BEYOND larger. */
type Widest = readonly [table: number, framed: number]

/**
 * The largest tables that are published as a shape's best (petragems.com, "Ideal diamond depth and table", 2019). Modified cushions are as cushions,
 * baguettes as emerald cuts; a trillion's 50 to 60 is what traders ask for; old cuts have 53 at most (GIA, Describing Round Unmodified Brilliant
 * Cut Diamonds, 2013). A rose and a briolette have no table, and a shape that nobody knows is measured as a round.
 */
export const widestTable: Readonly<Record<Shape, Widest>> = {
  Round: [59, 0.62],
  Princess: [69, 0.43],
  CushionBrilliant: [68, 0.5],
  CushionModified: [68, 0.5],
  Oval: [64, 0.5],
  Marquise: [64, 0.5],
  Pear: [64, 0.51],
  Radiant: [70, 0.42],
  Emerald: [70, 0.37],
  Asscher: [70, 0.42],
  Heart: [64, 0.54],
  Baguette: [70, 0.33],
  OldEuropean: [53, 0.69],
  OldMine: [53, 0.69],
  Trillion: [60, 0.61],
  Rose: [0, 0],
  Briolette: [0, 0],
  Other: [59, 0.62],
}

/**
 * By how much a table may be larger than those before it takes anything off, in points: by the GIA's charts rounds with up to 65 % are as good as their
 * light.
 */
export const BEYOND = 6

/** The part of its face that a stone of the shape has to show beside its table: less is a window. */
export const framedBy = (shape: Shape): number => widestTable[shape][1]
