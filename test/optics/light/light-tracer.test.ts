import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openPlainTracer } from '../../../scripts/scores-check/plain-tracer/plain-tracer.ts'
import { modelledShapes } from '../../../src/optics/cut/cut.ts'
import { diamondOptics, idealSolidOfCut } from '../../../src/optics/cut/trace-cut.ts'
import { lightTracer, type LightTracer, type RayBatch } from '../../../src/optics/light/light-tracer.ts'
import { toPlaneSet, type PlaneSet } from '../../../src/optics/light/planes.ts'
import { degrees } from '../../../src/optics/solid/facet.ts'
import { solidOf, type Solid } from '../../../src/optics/solid/solid.ts'
import { nominalCut, plainStones, roundOf } from '../cuts.ts'

const test = suite('the tracer in WebAssembly')

const light = { index: diamondOptics.index, cutOff: 0.01, degrees: degrees(diamondOptics.dispersion) }
const results = ['brightness', 'fire', 'leak', 'fromSky'] as const
type Result = (typeof results)[number]

type Sight = Readonly<Record<Result | 'entryPlane' | 'flash', readonly number[]>> & {
  readonly rings: readonly number[]
}

const RAYS = 3_000

/** A low-discrepancy sequence of numbers from 0 to 1. */
const spread = (index: number, step: number): number => (0.5 + index * step) % 1

/** Aims at points around a stone from all directions above the horizon. Many rays miss narrow stones. */
function aimAll({ x, y, z, dx, dy, dz, entryPlane }: RayBatch, planes: PlaneSet, size: number): void {
  for (let ray = 0; ray < RAYS; ray++) {
    const [height, around] = [spread(ray, 0.7549), 2 * Math.PI * spread(ray, 0.5698)]
    const flat = Math.sqrt(1 - height * height)
    x[ray] = size * (spread(ray, 0.618) - 0.5)
    y[ray] = planes.inner.middle + size * (spread(ray, 0.3247) - 0.5)
    z[ray] = planes.crownBottom
    dx[ray] = -flat * Math.cos(around)
    dy[ray] = -flat * Math.sin(around)
    dz[ray] = -height
    entryPlane[ray] = -1
  }
}

function traceBy(tracer: LightTracer, solid: Solid, cutOff = light.cutOff): Sight {
  const planes = toPlaneSet(solid)
  tracer.setUp(planes, { ...light, cutOff })
  tracer.rings.fill(0)
  aimAll(tracer.rays, planes, Math.max(solid.width, solid.length))
  tracer.trace(RAYS)
  const { rays, rings } = tracer
  const entryPlane = [...rays.entryPlane.subarray(0, RAYS)]
  const first = (numbers: RayBatch['x'] | RayBatch['flash']) =>
    entryPlane.map((plane, ray) => (plane < 0 ? 0 : (numbers[ray] ?? NaN)))
  return {
    brightness: first(rays.brightness),
    fire: first(rays.fire),
    leak: first(rays.leak),
    fromSky: first(rays.fromSky),
    entryPlane,
    flash: first(rays.flash),
    rings: [...rings],
  }
}

const plainTracer = openPlainTracer()
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

const stones: Readonly<Record<string, Solid>> = {
  ...plainStones,
  ...Object.fromEntries(modelledShapes.map((shape) => [shape, idealSolidOfCut(nominalCut(shape, 'Good'))])),
}

for (const [name, solid] of Object.entries(stones))
  test(`sees what the plain tracer sees, along 995 of 1,000 rays (${name})`, () => {
    const [found, expected] = [traceBy(lightTracer, solid), traceBy(plainTracer, solid)]
    const differs = (ray: number) =>
      found.entryPlane[ray] !== expected.entryPlane[ray] ||
      results.some((result) => Math.abs((found[result][ray] ?? NaN) - (expected[result][ray] ?? NaN)) > 0.001)
    const different = found.entryPlane.map((_, ray) => ray).filter(differs)
    assert.ok(expected.entryPlane.filter((plane) => plane >= 0).length > RAYS / 4)
    assert.ok(different.length <= 0.005 * RAYS, `${different.length} of ${RAYS} rays differ: ${different.slice(0, 5)}`)
    for (const [ring, energy] of expected.rings.entries())
      assert.ok(Math.abs((found.rings[ring] ?? NaN) - energy) < 0.005 * sum(expected.rings), `ring ${ring}`)
  })

test('tells flashes apart as the plain tracer does', () => {
  const [found, expected] = [traceBy(lightTracer, roundOf({})), traceBy(plainTracer, roundOf({}))]
  const hits = expected.entryPlane.map((plane, ray) => [plane, ray]).filter(([plane = -1]) => plane >= 0)
  const pairs = new Map<number, number>()
  const wrong = hits.filter(([, ray = 0]) => {
    const [mine = 0, plain = 0] = [found.flash[ray], expected.flash[ray]]
    const known = pairs.get(plain) ?? mine
    pairs.set(plain, known)
    return known !== mine
  })
  assert.ok(pairs.size > 100 && new Set(pairs.values()).size > 0.99 * pairs.size, `${pairs.size}`)
  assert.ok(wrong.length <= 0.005 * hits.length, `${wrong.length} of ${hits.length}`)
})

test('accounts for all light that enters, but for what is left at the cut-off', () => {
  const solid = roundOf({})
  const planes = toPlaneSet(solid)
  const { rays } = lightTracer
  lightTracer.setUp(planes, { ...light, cutOff: 1e-5 })
  // Through the table at normal incidence, the fraction ((n - 1) / (n + 1))² is reflected.
  for (const array of [rays.x, rays.y, rays.dx, rays.dy]) array.fill(0, 0, RAYS)
  for (let ray = 0; ray < RAYS; ray++) {
    rays.x[ray] = 0.25 * (spread(ray, 0.618) - 0.5)
    rays.y[ray] = 0.25 * (spread(ray, 0.3247) - 0.5)
    rays.z[ray] = planes.pavilionTop
    rays.dz[ray] = -1
    rays.entryPlane[ray] = -1
  }
  lightTracer.trace(RAYS)
  const entered = 1 - ((light.index - 1) / (light.index + 1)) ** 2
  for (let ray = 0; ray < RAYS; ray++) {
    // From straight above, light from the sky comes from before the eye.
    const out = (rays.fromSky[ray] ?? NaN) + (rays.leak[ray] ?? NaN)
    assert.ok(Math.abs(out - entered) < 1e-4, `ray ${ray}: ${out}, not ${entered}`)
  }
})

test('finds the same again, whatever was traced between', () => {
  const solid = roundOf({})
  const before = traceBy(lightTracer, solid)
  traceBy(lightTracer, idealSolidOfCut(nominalCut('Heart', 'Good')))
  assert.equal(traceBy(lightTracer, solid), before)
})

test('refuses a stone with more planes than it has room for', () => {
  const around = Array.from({ length: 1_100 }, (_, index) => (2 * Math.PI * index) / 1_100)
  const walls = around.map((angle) => ({
    part: 'girdle' as const,
    name: 'wall',
    normal: [Math.cos(angle), Math.sin(angle), 0] as const,
    offset: 0.5,
  }))
  const solid = solidOf([
    { part: 'crown', name: 'table', normal: [0, 0, 1], offset: 0.2 },
    ...walls,
    { part: 'pavilion', name: 'base', normal: [0, 0, -1], offset: 0.2 },
  ])
  assert.throws(() => lightTracer.setUp(toPlaneSet(solid), light), /at most 1024 planes, not 1102/)
})

test('sees the head, the bright zone and the rest of the sky as dark, bright and half as bright', () => {
  const found = traceBy(lightTracer, roundOf({ crown: 20 }))
  const rings = found.rings
  const byZone = sum(rings.slice(3, 9)) + sum(rings.slice(9)) / 2
  assert.ok(Math.abs(byZone / sum(found.brightness) - 1) < 1e-3)
})

test.run()
