/** Proportions that are known of a stone, from a report or from its owner: percent and degrees, `size` in millimetres. */
export type StoneProportions = {
  readonly table?: number
  readonly depth?: number
  readonly crownAngle?: number
  readonly pavilionAngle?: number
  readonly crownHeight?: number
  readonly pavilionDepth?: number
  readonly girdle?: number
  readonly star?: number
  readonly lower?: number
  readonly size?: StoneSize
}

/** Millimetres, as in the report. For rounds the smallest diameter is the width and the largest the length. */
export type StoneSize = { readonly length: number; readonly width: number; readonly depth?: number }

/**
 * Whether a stone of this weight can have this size. Published weight factors, carats divided by length x width x depth, are
 * .0057 to .0106 (GIA, mounted weights). The limits are half and one and a half times these: enough for unusual cuts, but sizes
 * in inches are rejected.
 */
export function isPlausibleSize(carat: number, { length, width, depth }: Required<StoneSize>): boolean {
  const factor = carat / (length * width * depth)
  return factor > 0.0028 && factor < 0.016
}
