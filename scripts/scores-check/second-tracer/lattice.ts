/** Fibonacci numbers that follow each other. */
const [POINTS, STEP] = [34, 21] as const

/**
 * Points spread evenly over a unit square, put down by chance as a whole: a Fibonacci lattice (each of as many rows and columns as there are
 * points has one of them), turned over the square's edges by a shift (Cranley & Patterson, SIAM J. Numer. Anal. 13, 1976). Each point by
 * itself lies anywhere with the same chance, so means over them are off by chance alone.
 */
export function shiftedLattice(random: () => number): (readonly [number, number])[] {
  const [x, y] = [random(), random()]
  return Array.from({ length: POINTS }, (_, place) => [(x + place / POINTS) % 1, (y + (place * STEP) / POINTS) % 1])
}
