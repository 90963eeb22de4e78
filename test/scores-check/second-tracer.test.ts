import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { angleBetweenColours } from '../../scripts/scores-check/second-tracer/colours.ts'
import { shiftedLattice } from '../../scripts/scores-check/second-tracer/lattice.ts'
import { areaFromAbove } from '../../scripts/scores-check/second-tracer/outline.ts'
import type { HalfSpace } from '../../scripts/scores-check/second-tracer/round-brilliant.ts'
import type { Vector3 } from '../../scripts/scores-check/second-tracer/vectors.ts'
import { randomFrom } from '../../scripts/scores-check/second-tracer/photon.ts'

const test = suite('the second tracer')

const assertClose = (actual: number, expected: number, tolerance: number) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `expected ${expected}, got ${actual}`)

const wall = (degrees: number, at: number): HalfSpace => {
  const turn = (degrees * Math.PI) / 180
  return { normal: [Math.cos(turn), Math.sin(turn), 0], offset: at, isCrown: false }
}
const level: readonly HalfSpace[] = [
  { normal: [0, 0, 1], offset: 0.2, isCrown: true },
  { normal: [0.6, 0, -0.8], offset: 0.5, isCrown: false },
]

test('computes the exact area of an outline with sides along the axes', () => {
  const rectangle = [wall(0, 0.5), wall(90, 0.5125), wall(180, 0.5), wall(-90, 0.5125)]
  assertClose(areaFromAbove([...level, ...rectangle]), 1.025, 1e-12)
  // The cut removes a right isosceles triangle, whose height is the distance of the corner from the cut.
  const height = (0.5 + 0.5125) * Math.SQRT1_2 - 0.65
  assertClose(areaFromAbove([...level, ...rectangle, wall(45, 0.65)]), 1.025 - height * height, 1e-12)
})

test('rejects an outline that is open or has a side that does not touch it', () => {
  const open = [wall(0, 0.5), wall(90, 0.5), wall(180, 0.5)]
  assert.throws(() => areaFromAbove([...level, ...open]), RangeError)
  assert.throws(() => areaFromAbove([...level, ...open, wall(-90, 0.5), wall(45, 0.8)]), RangeError)
})

test('places exactly one lattice point in each column and in each row', () => {
  const points = shiftedLattice(randomFrom(5))
  for (const axis of [0, 1] as const) {
    const cells = points.map((point) => Math.floor(point[axis] * points.length))
    assert.is(new Set(cells).size, points.length)
  }
})

test('places lattice points uniformly', () => {
  const random = randomFrom(6)
  const counts = Array.from({ length: 16 }, () => 0)
  for (let run = 0; run < 2_000; run++) {
    const [x, y] = shiftedLattice(random)[3] ?? [NaN, NaN]
    const cell = Math.floor(4 * x) + 4 * Math.floor(4 * y)
    counts[cell] = (counts[cell] ?? NaN) + 1
  }
  // The expected count is 125, with a standard deviation of about 11.
  for (const count of counts) assertClose(count, 125, 50)
})

/** A prism: light enters its base at a right angle and leaves through a side at an angle in degrees to the base. */
function prism(angle: number): { readonly out: Vector3; readonly path: readonly HalfSpace[]; readonly sine: number } {
  const sine = Math.sin((angle * Math.PI) / 180)
  const base: HalfSpace = { normal: [0, 0, -1], offset: 0, isCrown: true }
  const side: HalfSpace = { normal: [sine, 0, Math.sqrt(1 - sine * sine)], offset: 1, isCrown: true }
  return { out: [0, 0, -1], path: [side, base], sine }
}

test('computes the angle between two colours after a prism', () => {
  const { out, path, sine } = prism(20)
  const [F, C] = [2.435, 2.41]
  assertClose(angleBetweenColours(out, path, { F, C }), Math.asin(F * sine) - Math.asin(C * sine), 1e-12)
})

test('approximates the derivative for two close colours', () => {
  const { out, path, sine } = prism(24.3)
  const [index, dispersion] = [2.417, 0.0256]
  const derivative = (dispersion * sine) / Math.sqrt(1 - (index * sine) ** 2)
  const near = { F: index + dispersion / 200, C: index - dispersion / 200, angleFactor: 100 }
  assertClose(angleBetweenColours(out, path, near) / derivative, 1, 1e-3)
})

test('returns 0 if one of the two colours is totally reflected', () => {
  const { out, path, sine } = prism(24.4)
  assert.ok(2.435 * sine > 1 && 2.41 * sine < 1)
  assert.is(angleBetweenColours(out, path, { F: 2.435, C: 2.41 }), 0)
})

test.run()
