import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { solidOfCut } from '../../../src/optics/cut/trace-cut.ts'
import { CompanionRays, RayBundles, type LightReceiver } from '../../../src/optics/picture/ray-bundles.ts'
import {
  columnOf,
  visibleFacetsOf,
  framesOf,
  rayPositionsOf,
  rowOf,
  type Frame,
} from '../../../src/optics/picture/frame.ts'
import { aimFrom } from '../../../scripts/scores-check/plain-tracer/entry.ts'
import { isFromSky, newPath, trace } from '../../../scripts/scores-check/plain-tracer/light-path.ts'
import { toPlaneSet, type PlaneSet } from '../../../src/optics/light/planes.ts'
import { newRay, DX, DY, DZ, OX, OY, OZ } from '../../../src/optics/light/ray.ts'
import { enterStone, reflectInside } from '../../../src/optics/light/fresnel.ts'
import type { Solid } from '../../../src/optics/solid/solid.ts'
import type { ModelledShape } from '../../../src/optics/cut/cut.ts'
import { isClose, nominalCut, roundOf } from '../cuts.ts'

const test = suite('a bundle of rays')

const INDEX = 2.42
const ENDS = { cutOff: 0.02, maxHits: 48 }

/** The light from the sky at each pixel, traced in bundles; NaN if no ray reached the pixel. */
function byBundles(solid: Solid, planes: PlaneSet, frame: Frame): Float64Array {
  const seen = new Float64Array(frame.width * frame.height).fill(NaN)
  const scene: LightReceiver = {
    onAttenuation: () => undefined,
    addLight: (sums, ray, energy, isCrown) => {
      if (isCrown && (ray[OZ] ?? 0) > 0) sums[0] = (sums[0] ?? 0) + energy
    },
    paintSpots: (sums, _ray, spots, from, to) => {
      for (const spot of spots.subarray(from, to)) seen[rowOf(spot) * frame.width + columnOf(spot)] = sums[0] ?? 0
    },
  }
  const view = { positions: rayPositionsOf(frame), eye: frame.view.eye }
  const bundles = new RayBundles(planes, { index: INDEX, companionIndices: [], ...ENDS }, scene, view)
  for (const entrance of visibleFacetsOf(solid, planes, frame)) bundles.follow(entrance)
  return seen
}

/** The same, traced with a separate ray for each pixel. */
function byRays(planes: PlaneSet, frame: Frame): Float64Array {
  const path = newPath()
  return Float64Array.from({ length: frame.width * frame.height }, (_, pixel) => {
    const [column, row] = [pixel % frame.width, Math.floor(pixel / frame.width)]
    const [x, y] = [frame.left + (column + 0.5) * frame.step, frame.top - (row + 0.5) * frame.step]
    const first = aimFrom(frame.view, planes, path, x, y)
    if (first < 0) return NaN
    trace(path, planes, first, INDEX, ENDS.cutOff)
    let sum = 0
    for (let hit = 1; hit < Math.min(path.hits, ENDS.maxHits); hit++) {
      const energy = path.energy[hit] ?? 0
      if (energy >= 0.002 && isFromSky(path, planes, hit)) sum += energy
    }
    return sum
  })
}

const graded = (shape: ModelledShape) => solidOfCut({ ...nominalCut(shape, 'Good') }).solid
const stones: readonly (readonly [name: string, solid: Solid])[] = [
  ['an exact round, whose facets meet at pixel centres', roundOf({})],
  ['a graded oval', graded('Oval')],
  ['a graded princess', graded('Princess')],
  ['a graded emerald', graded('Emerald')],
  ['one half of a heart', graded('Heart')],
]

for (const [name, solid] of stones) {
  test(`gives each pixel the light of a separate ray: ${name}, level and tilted`, () => {
    const planes = toPlaneSet(solid)
    for (const frame of framesOf(solid, planes, 61, [0, 15])) {
      const [bundled, alone] = [byBundles(solid, planes, frame), byRays(planes, frame)]
      let [shown, differ, edges] = [0, 0, 0]
      for (const [pixel, light] of alone.entries()) {
        const other = bundled[pixel] ?? NaN
        if (Number.isNaN(light) !== Number.isNaN(other)) edges++
        if (Number.isNaN(light) || Number.isNaN(other)) continue
        shown++
        if (!isClose(light, other, 1e-6)) differ++
      }
      assert.ok(shown > 1_000, `${shown}`)
      // A ray that hits the edge between two facets may go to either.
      assert.ok(differ <= 0.01 * shown, `${differ} of ${shown} differ`)
      assert.ok(edges <= 0.01 * shown, `${edges} of ${shown} are covered in one only`)
    }
  })
}

test('includes companion rays of other refractive indices, each with its own direction and total reflection', () => {
  const [ray, companions] = [newRay(), new CompanionRays([INDEX, 2.6])]
  const tilted = Math.sin(0.3)
  ray[DX] = tilted
  ray[DZ] = -Math.sqrt(1 - tilted * tilted)
  companions.enter(ray, 0, 0, 1)
  enterStone(ray, 0, 0, 1, INDEX)
  const inside = (one: number, axis: number) => companions.directions[3 * one + axis] ?? NaN
  assert.ok(isClose(inside(0, 0), ray[DX] ?? NaN, 1e-12) && isClose(inside(0, 2), ray[DZ] ?? NaN, 1e-12))
  assert.ok(isClose(inside(1, 0), tilted / 2.6, 1e-12), 'Snell')
  companions.leave(0, 0, -1)
  reflectInside(ray, 0, 0, -1, INDEX)
  companions.reflect(0, 0, -1)
  const outside = (one: number, axis: number) => companions.outside[4 * one + axis] ?? NaN
  for (const [axis, place] of [OX, OY, OZ].entries()) assert.ok(isClose(outside(0, axis), ray[place] ?? NaN, 1e-12))
  for (const [axis, place] of [DX, DY, DZ].entries()) assert.ok(isClose(inside(0, axis), ray[place] ?? NaN, 1e-12))
  assert.ok(
    isClose(outside(1, 0), tilted, 1e-12),
    'between parallel facets, rays of all indices leave at their original angle',
  )
  companions.leave(-Math.SQRT1_2, 0, Math.SQRT1_2)
  assert.is(outside(1, 3), 0)
})

test.run()
