import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nearestPlane } from '../../scripts/scores-check/plain-tracer/nearest-plane.ts'
import { toPlaneSet } from '../../src/optics/light/planes.ts'
import { DX, DY, DZ, newRay, X, Y, Z } from '../../src/optics/light/ray.ts'
import { dot, type Vector } from '../../src/optics/solid/facet.ts'
import type { Solid } from '../../src/optics/solid/solid.ts'
import { plainStones } from '../optics/cuts.ts'

const test = suite('the first plane that a ray hits')

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

for (const [name, solid] of Object.entries(plainStones))
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
