import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toConvexBody } from '../../../src/optics/mesh/convex-body.ts'
import { InvalidMesh, type Mesh } from '../../../src/optics/mesh/mesh.ts'
import { weldVertices } from '../../../src/optics/mesh/weld.ts'
import type { Vector } from '../../../src/optics/solid/facet.ts'
import { isClose } from '../cuts.ts'
import { ball, bodyOfRevolution } from './round-bodies.ts'
import { triangulated } from './mesh-file.ts'

const test = suite('a convex body')

/** The corners of a cube with sides of 2 mm and one corner at the origin. */
const vertices: readonly Vector[] = [0, 1, 2, 3, 4, 5, 6, 7].map((index) => [
  index & 1 ? 2 : 0,
  index & 2 ? 2 : 0,
  index & 4 ? 2 : 0,
])
const facets = [
  [0, 2, 3, 1],
  [4, 5, 7, 6],
  [0, 1, 5, 4],
  [2, 6, 7, 3],
  [0, 4, 6, 2],
  [1, 3, 7, 5],
]
const cube: Mesh = { vertices, facets }
const moved = ({ vertices, facets }: Mesh, by: number): Mesh => ({
  vertices: vertices.map(([x, y, z]) => [x + by, y, z]),
  facets,
})
const together = (a: Mesh, b: Mesh): Mesh => ({
  vertices: [...a.vertices, ...b.vertices],
  facets: [...a.facets, ...b.facets.map((facet) => facet.map((corner) => corner + a.vertices.length))],
})

test('has its exact volume, even far from the origin', () => {
  assert.is(toConvexBody(cube).volume, 8)
  assert.ok(isClose(toConvexBody(triangulated(moved(cube, 1e5))).volume, 8, 1e-9))
})

test('is oriented outwards if some or all of its facets face inwards', () => {
  const all = toConvexBody({ vertices, facets: facets.map((facet) => facet.toReversed()) })
  const some = toConvexBody({
    vertices,
    facets: facets.map((facet, index) => (index % 2 === 0 ? facet.toReversed() : facet)),
  })
  assert.equal([all.volume, some.volume], [8, 8])
  const planes = ({ regions }: typeof all) =>
    regions.map(({ normal, offset }) => [...normal.map(Math.round), offset].join(' ')).sort()
  assert.equal(planes(all), planes(toConvexBody(cube)))
  assert.equal(planes(some), planes(toConvexBody(cube)))
})

test('has one region for all facets in one plane', () => {
  assert.is(toConvexBody(triangulated(cube)).regions.length, 6)
})

test('keeps a facet without area that closes a straight edge with a vertex on it', () => {
  const split: Mesh = {
    vertices: [...vertices, [1, 0, 0]],
    facets: [
      ...triangulated(cube).facets.filter((facet) => !(facet.includes(0) && facet.includes(1) && facet.includes(5))),
      [0, 8, 5],
      [8, 1, 5],
      [0, 1, 8].reverse(),
    ],
  }
  const open: Mesh = { ...split, facets: split.facets.slice(0, -1) }
  assert.throws(() => toConvexBody(open), /open at the edge/)
  const body = toConvexBody(split)
  assert.equal([body.volume, body.regions.length], [8, 6])
})

test('drops a loose facet without area', () => {
  const body = toConvexBody({ vertices: [...vertices, [1, 1, 1]], facets: [...facets, [0, 8, 7]] })
  assert.equal([body.volume, body.facets.length, body.vertices.length], [8, 6, 8])
})

test('drops a facet that has two corners after welding', () => {
  const near: Mesh = { vertices: [...vertices, [2, 2, 2 + 1e-7]], facets: [...facets, [0, 7, 8]] }
  assert.is(toConvexBody(weldVertices(near)).volume, 8)
})

const star: Mesh = (() => {
  const tips = [0, 2, 4, 6, 8].map((turn) => (turn * 2 * Math.PI) / 5)
  const ring = (z: number) => tips.map((angle): Vector => [2 * Math.cos(angle), 2 * Math.sin(angle), z])
  const sides = tips.map((_, index) => [index, (index + 1) % 5, 5 + ((index + 1) % 5), 5 + index])
  return { vertices: [...ring(0), ...ring(1)], facets: [[4, 3, 2, 1, 0], ...sides, [5, 6, 7, 8, 9]] }
})()

/** A ball with a smooth dent of many small facets. */
const dented: Mesh = (() => {
  const whole = ball(3, 100, 100)
  return triangulated({
    vertices: whole.vertices.map(([x, y, z]) => [
      x,
      y,
      z > 1 ? z - 0.9 * (1 + Math.cos(Math.PI * Math.min(1, Math.hypot(x, y) / 2.8))) : z,
    ]),
    facets: whole.facets,
  })
})()

/** A torus of 8 by 8 facets. */
const ring: Mesh = (() => {
  const at = (turn: number, round: number) => (turn % 8) * 8 + (round % 8)
  const places = Array.from({ length: 64 }, (_, index) => [Math.floor(index / 8), index % 8] as const)
  return {
    vertices: places.map(([turn, round]) => {
      const [a, b] = [(turn * Math.PI) / 4, (round * Math.PI) / 4]
      return [(3 + Math.cos(b)) * Math.cos(a), (3 + Math.cos(b)) * Math.sin(a), Math.sin(b)]
    }),
    facets: places.map(([turn, round]) => [
      at(turn, round),
      at(turn + 1, round),
      at(turn + 1, round + 1),
      at(turn, round + 1),
    ]),
  }
})()

const without = (place: number): Mesh => ({ vertices, facets: facets.filter((_, index) => index !== place) })
const withCorner = (place: number, point: Vector): Mesh => ({ vertices: vertices.with(place, point), facets })

const rejected: readonly (readonly [name: string, mesh: Mesh, words: string])[] = [
  ['with a facet left out', without(1), 'The body is open at the edge from (2, 0, 2) to (0, 0, 2), where facet 2 ends'],
  ['of three facets', { vertices, facets: facets.slice(0, 3) }, 'must have at least 4 facets, got 3'],
  ['whose facets have two corners after welding', { vertices, facets: facets.map(() => [0, 1]) }, 'The body is flat'],
  [
    'with a duplicate facet',
    { vertices, facets: [...facets, facets[0] ?? []] },
    'More than two facets meet at the edge from (2, 0, 0) to (0, 0, 0), one of them facet 7',
  ],
  ['with a wall inside', { vertices, facets: [...facets, [0, 1, 7, 6]] }, 'More than two facets meet'],
  ['of two pieces', together(cube, moved(cube, 5)), 'more than one body: facet 7 is not connected to facet 1'],
  [
    'with a body inside',
    together(moved(cube, 0), {
      ...cube,
      vertices: vertices.map(([x, y, z]) => [x / 2 + 0.5, y / 2 + 0.5, z / 2 + 0.5]),
    }),
    'more than one body',
  ],
  ['that is flat', { vertices: vertices.map(([x, y]) => [x, y, 0]), facets }, 'The body is flat: its volume is 0 mm³'],
  ['that is a point', { vertices: vertices.map(() => [1, 1, 1]), facets }, 'must be at least 0.05 mm across, got 0'],
  ['with a hole through it', ring, 'must be 2, got 0'],
  [
    'with a bent facet',
    withCorner(7, [2, 2, 1.5]),
    'Facet 2 is not flat: its corner (0, 0, 2) is 0.123 mm off its plane',
  ],
  ['with a valley', triangulated(withCorner(7, [0.8, 0.8, 0.8])), 'The body is not convex at the edge from'],
  [
    'with a notch in a ring',
    bodyOfRevolution(
      [
        [1, 0],
        [3, 1],
        [2, 2],
        [3, 3],
        [1, 4],
      ],
      12,
    ),
    'not convex at the edge',
  ],
  ['that winds around itself like a star', star, 'The body is not convex: ('],
  ['with a dent of many small facets', dented, 'not convex'],
]
for (const [name, mesh, words] of rejected)
  test(`${name} is rejected with the location`, () => {
    assert.throws(
      () => toConvexBody(mesh),
      (error: unknown) => {
        if (!(error instanceof InvalidMesh)) return false
        assert.ok(error.message.includes(words), `"${error.message}" lacks "${words}"`)
        return true
      },
    )
  })

test('that is non-orientable is rejected', () => {
  // The projective plane with six vertices: a Möbius strip of five triangles, closed by a disc along its only edge.
  const plane = [
    [0, 1, 2],
    [0, 2, 3],
    [0, 3, 4],
    [0, 4, 5],
    [0, 5, 1],
    [1, 2, 4],
    [2, 3, 5],
    [3, 4, 1],
    [4, 5, 2],
    [5, 1, 3],
  ]
  const corners: Vector[] = [
    [0, 0, 1],
    [1, 0, 0],
    [0.3, 0.9, 0.1],
    [-0.8, 0.6, 0],
    [-0.8, -0.6, 0.2],
    [0.3, -0.9, 0],
  ]
  assert.throws(
    () => toConvexBody({ vertices: corners, facets: plane }),
    /The surface has no inside: facets \d+ and \d+/,
  )
})

test.run()
