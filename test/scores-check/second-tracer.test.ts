import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { angleBetweenColours } from '../../scripts/scores-check/second-tracer/colours.ts'
import { shiftedLattice } from '../../scripts/scores-check/second-tracer/lattice.ts'
import { areaFromAbove } from '../../scripts/scores-check/second-tracer/outline.ts'
import type { HalfSpace } from '../../scripts/scores-check/second-tracer/round-brilliant.ts'
import type { Vector3 } from '../../scripts/scores-check/second-tracer/vectors.ts'
import { randomFrom } from '../../scripts/scores-check/second-tracer/photon.ts'

const test = suite('the second tracer')

const close = (found: number, wanted: number, by: number) =>
  assert.ok(Math.abs(found - wanted) <= by, `${found}, not ${wanted}`)

const wall = (degrees: number, at: number): HalfSpace => {
  const turn = (degrees * Math.PI) / 180
  return { normal: [Math.cos(turn), Math.sin(turn), 0], offset: at, isCrown: false }
}
const level: readonly HalfSpace[] = [
  { normal: [0, 0, 1], offset: 0.2, isCrown: true },
  { normal: [0.6, 0, -0.8], offset: 0.5, isCrown: false },
]

test('knows the area of an outline whose sides run along the axes to the last digits', () => {
  const rectangle = [wall(0, 0.5), wall(90, 0.5125), wall(180, 0.5), wall(-90, 0.5125)]
  close(areaFromAbove([...level, ...rectangle]), 1.025, 1e-12)
  // A corner is cut off by a triangle, as high as the corner is far beyond the cut.
  const high = (0.5 + 0.5125) * Math.SQRT1_2 - 0.65
  close(areaFromAbove([...level, ...rectangle, wall(45, 0.65)]), 1.025 - high * high, 1e-12)
})

test('refuses an outline that is open, or has a side that no part of it lies on', () => {
  const open = [wall(0, 0.5), wall(90, 0.5), wall(180, 0.5)]
  assert.throws(() => areaFromAbove([...level, ...open]), RangeError)
  assert.throws(() => areaFromAbove([...level, ...open, wall(-90, 0.5), wall(45, 0.8)]), RangeError)
})

test('puts one grid of spots in each of as many columns, and in each of as many rows', () => {
  const points = shiftedLattice(randomFrom(5))
  for (const axis of [0, 1] as const) {
    const places = points.map((point) => Math.floor(point[axis] * points.length))
    assert.is(new Set(places).size, points.length)
  }
})

test('puts its grids everywhere with the same chance', () => {
  const random = randomFrom(6)
  const sixteenths = Array.from({ length: 16 }, () => 0)
  for (let run = 0; run < 2_000; run++) {
    const [x, y] = shiftedLattice(random)[3] ?? [NaN, NaN]
    const place = Math.floor(4 * x) + 4 * Math.floor(4 * y)
    sixteenths[place] = (sixteenths[place] ?? NaN) + 1
  }
  // 125 each, and by chance 11 more or less.
  for (const found of sixteenths) close(found, 125, 50)
})

/** Light falls onto the base of a prism at a right angle, and leaves through a side that leans by so many degrees from it. */
function prism(angle: number): { readonly out: Vector3; readonly way: readonly HalfSpace[]; readonly sine: number } {
  const sine = Math.sin((angle * Math.PI) / 180)
  const base: HalfSpace = { normal: [0, 0, -1], offset: 0, isCrown: true }
  const side: HalfSpace = { normal: [sine, 0, Math.sqrt(1 - sine * sine)], offset: 1, isCrown: true }
  return { out: [0, 0, -1], way: [side, base], sine }
}

test('measures the angle between two colours that a prism puts between them', () => {
  const { out, way, sine } = prism(20)
  const [F, C] = [2.435, 2.41]
  close(angleBetweenColours(out, way, { F, C }), Math.asin(F * sine) - Math.asin(C * sine), 1e-12)
})

test('nears the derivative for colours near each other, times as much', () => {
  const { out, way, sine } = prism(24.3)
  const [index, dispersion] = [2.417, 0.0256]
  const derivative = (dispersion * sine) / Math.sqrt(1 - (index * sine) ** 2)
  const near = { F: index + dispersion / 200, C: index - dispersion / 200, angleFactor: 100 }
  close(angleBetweenColours(out, way, near) / derivative, 1, 1e-3)
})

test('finds no angle where one of two colours does not get out', () => {
  const { out, way, sine } = prism(24.4)
  assert.ok(2.435 * sine > 1 && 2.41 * sine < 1)
  assert.is(angleBetweenColours(out, way, { F: 2.435, C: 2.41 }), 0)
})

test.run()
