import type { Grade, ModelledShape } from './cut.ts'

/** Percent of the width, and the crown's angle on the short side in degrees. The pavilion gets what is left of the depth. */
export type Row = readonly [depth: number, table: number, crownAngle: number, girdle: number]

/** The measures that stand for a cut of which only shape and grade are known. */
export type Nominal = {
  readonly lengthToWidth: number
  readonly star: number
  readonly lower: number
  readonly rows: Readonly<Record<Grade, Row>>
}

/**
 * Where a grade's published range only adds to the better grade's on both sides, the deep side is taken: that is where
 * stones of lower grades are, since depth keeps weight (the bundled data set: 61.8 % Ideal, 65.0 % Fair).
 */
const rows = (ideal: Row, excellent: Row, veryGood: Row, good: Row, fair: Row, poor: Row): Record<Grade, Row> => ({
  Ideal: ideal,
  Excellent: excellent,
  'Very Good': veryGood,
  Good: good,
  Fair: fair,
  Poor: poor,
})

/** Emerald and Asscher: EX 58-65 / 60-65, VG 55-70 / 59-70, G 52-75 / 52-75 (shalev.co.uk, mydiamondcuts.com). */
const steps = rows(
  [60, 61, 37, 3.5],
  [61.5, 62.5, 37, 4],
  [67.5, 67.5, 37, 4.5],
  [72.5, 72.5, 37, 5],
  [77, 75, 36, 5.5],
  [81, 77, 35, 6],
)

/** Pear: EX 58-64 / 55-62, VG 57-66 / 53-64, G 56-68 / 52-65; Marquise: EX depth 58-64, else as pear; Oval: as pear. */
const drops = rows(
  [60, 57, 34.5, 3.5],
  [61, 58.5, 34.5, 4],
  [65, 63, 35, 4.8],
  [67, 64.5, 35.5, 5],
  [70, 67, 36, 5.5],
  [73, 69, 36, 6.5],
)

/** Not published for cushions: market proportions of stones called well cut, then deeper by 3 to 4 points a grade. */
const cushions = rows(
  [66, 59, 35, 3.5],
  [67, 60, 35, 4],
  [70, 63, 35, 4.5],
  [73, 66, 35, 5],
  [77, 69, 35, 5.5],
  [81, 72, 35, 6],
)

/** Length to width: middles of the ranges of brilliantearth.com/popup-l-w-ratio. */
export const nominal: Readonly<Record<ModelledShape, Nominal>> = {
  // Depth and table are the medians of the bundled data set's stones by cut (Excellent: its Premium); Poor goes on from Fair. The data set has
  // neither angles nor girdles: they are such that a stone weighs what those stones weigh for their width, within 1.5 %, by girdles that get
  // thicker and pavilions that get steeper from grade to grade.
  Round: {
    lengthToWidth: 1,
    star: 50,
    lower: 80,
    rows: rows(
      [61.8, 56, 33.5, 3.5],
      [61.4, 59, 33, 4],
      [62.1, 58, 32, 4.2],
      [63.4, 58, 33.5, 4.4],
      [65, 58, 32, 6.6],
      [68.5, 59, 33, 6.5],
    ),
  },
  // EX 62-73 / 57-72, VG 60-77 / 55-75, G 57-83 / 52-85 (shalev.co.uk).
  Princess: {
    lengthToWidth: 1.025,
    star: 50,
    lower: 80,
    rows: rows(
      [66, 63, 33, 3],
      [67.5, 64.5, 33, 3],
      [75, 73.5, 33, 3.5],
      [80, 78, 33, 4],
      [85, 81, 33, 5],
      [89, 84, 33, 6],
    ),
  },
  CushionBrilliant: { lengthToWidth: 1.025, star: 50, lower: 70, rows: cushions },
  CushionModified: { lengthToWidth: 1.025, star: 50, lower: 65, rows: cushions },
  Oval: { lengthToWidth: 1.5, star: 50, lower: 80, rows: drops },
  Marquise: { lengthToWidth: 2.025, star: 50, lower: 65, rows: drops },
  Pear: { lengthToWidth: 1.6, star: 50, lower: 80, rows: drops },
  // Depth 70-78 (shalev.co.uk), divided among the grades; the table is not published.
  Radiant: {
    lengthToWidth: 1.025,
    star: 50,
    lower: 80,
    rows: rows(
      [70, 62, 36, 3],
      [71, 64, 36, 3.5],
      [73, 67, 36, 4],
      [76, 70, 36, 4.5],
      [79, 73, 36, 5],
      [82, 76, 36, 6],
    ),
  },
  Emerald: { lengthToWidth: 1.35, star: 50, lower: 80, rows: steps },
  Asscher: { lengthToWidth: 1.025, star: 50, lower: 80, rows: steps },
  // Not published: the pear's ladder, three points less deep, which meets the published weight factor and size.
  Heart: {
    lengthToWidth: 1,
    star: 50,
    lower: 80,
    rows: rows(
      [57, 57, 34.5, 3.5],
      [58, 58.5, 34.5, 3.5],
      [62, 61, 35, 4],
      [64, 63, 35.5, 4.5],
      [67, 65, 36, 5],
      [70, 67, 36, 6],
    ),
  },
}
