const [POINTS, STEP] = [34, 21] as const

/**
 * Evenly distributed points in the unit square: a Fibonacci lattice with a random shift modulo 1 (Cranley & Patterson, SIAM J. Numer. Anal. 13,
 * 1976). Each single point is uniformly distributed, so means over the points are unbiased.
 */
export function shiftedLattice(random: () => number): (readonly [number, number])[] {
  const [x, y] = [random(), random()]
  return Array.from({ length: POINTS }, (_, index) => [(x + index / POINTS) % 1, (y + (index * STEP) / POINTS) % 1])
}
