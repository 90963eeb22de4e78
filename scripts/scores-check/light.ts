import { modelledShapes } from '../../src/optics/cut/cut.ts'
import { weightedLightReturn, sampleWholeSky, type DirectionSampler } from '../../src/optics/light/light-return.ts'
import { measureFaceUp } from '../../src/optics/light/face-up.ts'
import { at } from '../../src/optics/light/typed-arrays.ts'
import { CROWN } from '../../src/optics/light/planes.ts'
import { diamondOptics, solidOfCut, type RoundMeasures } from '../../src/optics/cut/trace-cut.ts'
import { crownTargetOf } from '../../src/optics/light/view.ts'
import { nearPublished, makeCheck, type Check } from './check.ts'
import { defaultCut, roundBrilliant } from './designs.ts'
import { traceEyeRays } from './plain-tracer/plain-tracer.ts'

const sampling = (samples: number) => ({ samples, index: diamondOptics.index, cutOff: 1e-3 })
const target = (measures: Partial<RoundMeasures>) => crownTargetOf(roundBrilliant(measures))
const lightReturnOf = (measures: Partial<RoundMeasures>, samples = 30_000) =>
  weightedLightReturn(target(measures), sampling(samples))
const fire = (measures: Partial<RoundMeasures>, dispersion: number = diamondOptics.dispersion) =>
  measureFaceUp(roundBrilliant(measures), { index: diamondOptics.index, dispersion }).fire

const FINE = 200_000
/** With a quarter of these, the maximum over the crown angle is still off by 0.3 degrees. */
const FINEST = 800_000
const formatPairs = (values: readonly (readonly [number, number])[]) =>
  values.map(([at, value]) => `${at}: ${value.toFixed(4)}`).join('  ')

export function returnChecks(): Check[] {
  const around = [21, 22, 23, 24, 25].map((crown) => [crown, lightReturnOf({ crown }, FINEST)] as const)
  const highest = parabolaMaximum(around)
  const low = [0.5, 1, 5, 10].map((crown) => [crown, lightReturnOf({ crown })] as const)
  const high = [35, 36, 38, 40, 45].map((crown) => [crown, lightReturnOf({ crown })] as const)
  const tables = [50, 53, 56, 58, 60, 65, 70].map((table) => [table, lightReturnOf({ table })] as const)
  const pavilions = [36, 38, 39, 40, 41, 42, 43, 44].map((pavilion) => [pavilion, lightReturnOf({ pavilion })] as const)
  const peak = Math.max(...around.map(([, value]) => value))
  const typical = lightReturnOf({ crown: 34.5 })
  const top = (values: readonly (readonly [number, number])[]) => [...values].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0
  return [
    nearPublished('reference round', 0.28, lightReturnOf({}, FINE), 0.005, 4),
    nearPublished('crown angle of the local maximum, degrees', 23, highest, 0.5, 2),
    makeCheck(
      'highest without a crown',
      'yes',
      formatPairs(low),
      low.slice(0, 2).every(([, value]) => value > peak),
    ),
    makeCheck(
      'crown over 34.5 never bright',
      'below the maximum',
      formatPairs(high),
      high.every(([, value]) => value < 0.95 * peak),
    ),
    makeCheck('best table', 'below 57', formatPairs(tables), top(tables) < 57),
    makeCheck(
      'best pavilion, degrees',
      '38 to 42',
      formatPairs(pavilions),
      top(pavilions) >= 38 && top(pavilions) <= 42,
    ),
    makeCheck(
      'C 34.5, T 53-58, P 39.7-41.6',
      'bright, below the best',
      typical.toFixed(4),
      typical < peak && typical > 0.9 * peak,
    ),
  ]
}

/** Directions within a cone around the zenith, given by the square of the sine of its half angle. */
const cone =
  (sineSquare: number): DirectionSampler =>
  (eye, nx, ny, nz, u, v) => {
    const radius = Math.sqrt(u * sineSquare)
    eye[0] = radius * Math.cos(2 * Math.PI * v)
    eye[1] = radius * Math.sin(2 * Math.PI * v)
    eye[2] = Math.sqrt(1 - u * sineSquare)
    const facing = nx * at(eye, 0) + ny * at(eye, 1) + nz * at(eye, 2)
    return facing > 0 ? (Math.PI * sineSquare * facing) / at(eye, 2) : 0
  }

/** The maximum of the parabola fitted to evenly spaced points: their random errors are larger than their differences. */
function parabolaMaximum(points: readonly (readonly [number, number])[]): number {
  const middle = points.reduce((sum, [x]) => sum + x, 0) / points.length
  const sum = (of: (x: number, y: number) => number) => points.reduce((all, [x, y]) => all + of(x - middle, y), 0)
  const [squares, fourths, count] = [sum((x) => x * x), sum((x) => x ** 4), points.length]
  const curvature =
    (count * sum((x, y) => x * x * y) - squares * sum((_, y) => y)) / (count * fourths - squares * squares)
  return middle - sum((x, y) => x * y) / squares / (2 * curvature)
}

/** The fraction of light of a face-up view that leaves through the pavilion. */
function leakage(pavilion: number): number {
  const stone = target({ crown: 35, pavilion, lower: 80 })
  let leaked = 0
  let seen = 0
  traceEyeRays(stone, sampling(40_000), cone(1e-6), (path, share) => {
    seen += share
    for (let hit = 1; hit < path.hits; hit++) {
      if (stone.planes.parts[path.planes[hit] ?? 0] !== CROWN) leaked += share * (path.energy[hit] ?? 0)
    }
  })
  return leaked / seen
}

export function leakageChecks(): Check[] {
  const values = [41.05, 41.1, 41.15, 41.2, 41.25, 41.3].map((pavilion) => [pavilion, leakage(pavilion)] as const)
  const at = (pavilion: number) => values.find(([angle]) => angle === pavilion)?.[1] ?? 0
  const holds = at(41.25) - at(41.15) > 3 * Math.abs(at(41.3) - at(41.25)) && at(41.25) > 1.15 * at(41.15)
  return [makeCheck('leakage from pavilion 41.15° to 41.25°', 'a large jump', formatPairs(values), holds)]
}

export function fireChecks(): Check[] {
  const crowns = [25, 28, 30, 32, 34, 36].map((crown) => [crown, fire({ crown })] as const)
  const tables = [56, 60, 65, 70].map((table) => [table, fire({ table })] as const)
  const rises = (values: readonly (readonly [number, number])[]) =>
    values.every(([, value], index) => value > (values[index - 1]?.[1] ?? 0))
  return [
    makeCheck('without dispersion', '0', String(fire({}, 0)), fire({}, 0) === 0),
    makeCheck('rises with the crown angle from 25°', 'yes', formatPairs(crowns), rises(crowns)),
    makeCheck('falls with the table', 'yes', formatPairs(tables), rises([...tables].reverse())),
  ]
}

export function energyChecks(): Check[] {
  return modelledShapes.map((shape) => {
    const { solid } = solidOfCut(defaultCut(shape, 'Very Good'))
    let worst = 0
    let dropped = 0
    traceEyeRays(crownTargetOf(solid), sampling(5_000), sampleWholeSky, (path, share) => {
      let out = path.glare
      for (let hit = 1; hit < path.hits; hit++) out += path.energy[hit] ?? 0
      worst = Math.max(worst, Math.abs(out + path.remainingEnergy - 1))
      dropped += share * path.remainingEnergy
    })
    const ours = `${worst.toExponential(1)}, dropped by the cut-off ${dropped.toFixed(5)}`
    return makeCheck(`${shape}: light in - out - dropped`, '0 ± 1e-9', ours, worst <= 1e-9)
  })
}
