import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nearestPlane, toPlaneSet } from '../../../src/optics/light/planes.ts'
import { DX, DY, DZ, newRay, X, Y, Z } from '../../../src/optics/light/ray.ts'
import { dot, radians, unit, type Facet, type StonePart, type Vector } from '../../../src/optics/solid/facet.ts'
import { solidOf, type Solid } from '../../../src/optics/solid/solid.ts'

const test = suite('the first plane that a ray hits')

/** A ring of facets at an angle in degrees from the table's plane (above 90: facing down) and a distance from the origin. */
const ring = (part: StonePart, degrees: number, offset: number, count: number): Facet[] =>
  Array.from({ length: count }, (_, index) => {
    const around = (2 * Math.PI * index) / count
    const [flat, z] = [Math.sin(radians(degrees)), Math.cos(radians(degrees))]
    return { part, name: part, normal: unit([flat * Math.cos(around), flat * Math.sin(around), z]), offset }
  })
const table: Facet = { part: 'crown', name: 'table', normal: [0, 0, 1], offset: 0.2 }

const stones: Readonly<Record<string, Solid>> = {
  'with upright walls': solidOf([
    table,
    ...ring('crown', 35, 0.4, 8),
    ...ring('girdle', 90, 0.5, 16),
    ...ring('pavilion', 139, 0.36, 8),
  ]),
  'with walls that lean inwards': solidOf([table, ...ring('girdle', 82, 0.5, 7), ...ring('pavilion', 139, 0.36, 8)]),
  'with walls that lean outwards': solidOf([table, ...ring('girdle', 98, 0.5, 7), ...ring('pavilion', 139, 0.36, 8)]),
  'with a keel between a wall and its pavilion': solidOf([
    table,
    ...ring('girdle', 98, 0.3, 3),
    { part: 'pavilion', name: 'keel', normal: unit([0.9, 0.1, -0.5]), offset: 0.2 },
  ]),
  'without walls': solidOf([table, ...ring('crown', 35, 0.4, 8), ...ring('pavilion', 139, 0.36, 8)]),
}

/** A low-discrepancy sequence of numbers from 0 to 1. */
const spread = (index: number, step: number): number => (0.5 + index * step) % 1

function rayFrom(solid: Solid, index: number): { from: Vector; towards: Vector } {
  const corners = solid.faces.flatMap((face) => face.corners)
  const pick = (step: number) => corners[Math.floor(spread(index, step) * corners.length)] ?? [0, 0, 0]
  const [a, b, c] = [pick(0.618), pick(0.7549), pick(0.5698)]
  const mean = (axis: 0 | 1 | 2) => (a[axis] + b[axis] + c[axis]) / 3
  const part = 0.999 * spread(index, 0.3247)
  const height = 2 * spread(index, 0.4656) - 1
  const around = 2 * Math.PI * spread(index, 0.8191)
  const flat = Math.sqrt(1 - height * height)
  return {
    from: [part * mean(0), part * mean(1), part * mean(2)],
    towards: [flat * Math.cos(around), flat * Math.sin(around), height],
  }
}

/** The distance to the nearest of all planes. */
function distanceTo(solid: Solid, from: Vector, towards: Vector): number {
  const ahead = solid.facets.filter(({ normal }) => dot(normal, towards) > 0)
  return Math.min(...ahead.map(({ normal, offset }) => (offset - dot(normal, from)) / dot(normal, towards)))
}

for (const [name, solid] of Object.entries(stones))
  test(`of a stone ${name} is the nearest of all its planes`, () => {
    const planes = toPlaneSet(solid)
    const ray = newRay()
    for (let index = 0; index < 20_000; index++) {
      const { from, towards } = rayFrom(solid, index)
      for (const [place, value] of [from[0], from[1], from[2], towards[0], towards[1], towards[2]].entries())
        ray[[X, Y, Z, DX, DY, DZ][place] ?? X] = value
      const facet = planes.order[nearestPlane(planes, ray, -1)]
      if (facet === undefined) throw new Error('A ray from inside hits a plane')
      const distance = (facet.offset - dot(facet.normal, from)) / dot(facet.normal, towards)
      const expected = distanceTo(solid, from, towards)
      assert.ok(Math.abs(distance - expected) < 1e-9, `ray ${index}: ${distance}, not ${expected}`)
    }
  })

test.run()
