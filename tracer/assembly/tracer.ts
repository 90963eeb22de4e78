// Follows light through a convex stone, four rays at a time, each from an eye backwards: by reciprocity the eye sees the same fractions of
// the light that enters where the ray leaves. A lane whose ray ends starts the next ray of the batch.
//
// The same computation in double precision, one ray at a time, is scripts/scores-check/plain-tracer; `npm run scores:check` compares them.
import {
  ABOVE,
  ACTIVE,
  ADDRESS,
  BELOW,
  BRIGHTEST,
  BRIGHTNESS,
  COLOUR,
  DX,
  DY,
  DZ,
  ENTRY,
  ENTRY_NORMAL,
  EYE,
  FIRE,
  FLASH,
  FLASH_PATH,
  FROM_SKY,
  HITS,
  I,
  integerAt,
  LEAK,
  MAX_PLANES,
  NORMAL_X,
  NORMAL_Y,
  NORMAL_Z,
  numberAt,
  OUTSIDE,
  PATH,
  PX,
  PY,
  PZ,
  Q,
  RAY,
  RING_COSINES,
  RING_LIGHT,
  RINGS,
  row,
  SEEN,
  setInteger,
  setNumber,
  setRow,
  SPARE,
  SX,
  SY,
  SZ,
  TANGENT,
  TURN,
  U,
  UX,
  UY,
  UZ,
  V,
  X,
  Y,
  Z,
} from './memory'
import { entryDistance, findEntry, findNearest, gather, isCrown, isFold, nearest, nearness } from './planes'
import { add, all, choose, divide, dot, except, multiply, subtract, where } from './vectors'

export {
  BRIGHTNESS,
  DX,
  DY,
  DZ,
  ENTRY,
  FIRE,
  FLASH,
  FROM_SKY,
  LEAK,
  MAX_PLANES,
  MAX_RAYS,
  NORMAL_X,
  NORMAL_Y,
  NORMAL_Z,
  OFFSET,
  RING_COSINES,
  RING_LIGHT,
  RINGS,
  X,
  Y,
  Z,
} from './memory'
export { setInnerEllipse, setParts } from './planes'

/** A ray that still has energy after this many hits is trapped. */
const MAX_HITS: i32 = 400
/** The squared sine of an angle of incidence below which any polarisation axis is valid. */
const MIN_SINE_SQUARE: f32 = 1e-9

for (let plane = 0; plane < MAX_PLANES; plane++) store<i32>(ADDRESS + ((<usize>plane) << 2), plane << 2)

/** The refractive index, and the energy at which a ray is abandoned. */
let index: f32 = 0
let cutOff: f32 = 0
/** Degrees between two colours for an angular dispersion of one radian per unit of index, and those that an eye blurs. */
let degrees: f32 = 0
let blur: f32 = 0
/** Cosines of the angles from the eye within which a head blocks the sky and within which it is bright, and the rest's brightness. */
let headCosine: f32 = 0
let brightCosine: f32 = 0
let sideBrightness: f32 = 0

export function setLight(refractiveIndex: f32, leastEnergy: f32, degreesOfDispersion: f32, blurredDegrees: f32): void {
  index = refractiveIndex
  cutOff = leastEnergy
  degrees = degreesOfDispersion
  blur = blurredDegrees
}

export function setSky(head: f32, bright: f32, side: f32): void {
  headCosine = head
  brightCosine = bright
  sideBrightness = side
}

let next: i32 = 0
let end: i32 = 0

/** Traces the first `count` rays of the batch. */
export function trace(count: i32): void {
  next = 0
  end = count
  for (let lane = 0; lane < 4; lane++) start(lane)
  while (v128.any_true(row(ACTIVE))) {
    findNearest()
    reflect()
    const hits = i32x4.add(row(HITS), i32x4.splat(1))
    setRow(HITS, hits)
    const ends = v128.or(f32x4.le(row(I), all(cutOff)), i32x4.ge_s(hits, i32x4.splat(MAX_HITS)))
    let lanes = i32x4.bitmask(where(row(ACTIVE), ends))
    while (lanes != 0) {
      const lane = ctz(lanes)
      lanes &= lanes - 1
      finish(lane)
      start(lane)
    }
  }
}

/** Starts the next ray that meets the stone in a lane; the lane becomes inactive if there is none. */
function start(lane: i32): void {
  while (next < end) {
    const ray = next++
    if (enter(lane, ray)) {
      setInteger(RAY, lane, ray)
      setInteger(HITS, lane, 1)
      setInteger(ACTIVE, lane, -1)
      return
    }
  }
  setInteger(ACTIVE, lane, 0)
}

/**
 * Refracts unpolarised light of energy 1 into the stone through the ray's plane of entry, or through the first plane that it meets if that
 * is -1. Returns false if it meets none.
 */
function enter(lane: i32, ray: i32): bool {
  const at = (<usize>ray) << 2
  const dx = load<f32>(DX + at)
  const dy = load<f32>(DY + at)
  const dz = load<f32>(DZ + at)
  let x = load<f32>(X + at)
  let y = load<f32>(Y + at)
  let z = load<f32>(Z + at)
  let plane = load<i32>(ENTRY + at) << 2
  if (plane < 0) {
    plane = findEntry(x, y, z, dx, dy, dz)
    store<i32>(ENTRY + at, plane >> 2)
    if (plane < 0) return false
    x += entryDistance * dx
    y += entryDistance * dy
    z += entryDistance * dz
  }
  const nx = load<f32>(NORMAL_X + <usize>plane)
  const ny = load<f32>(NORMAL_Y + <usize>plane)
  const nz = load<f32>(NORMAL_Z + <usize>plane)
  const cosine = -(nx * dx + ny * dy + nz * dz)
  const inside = sqrt<f32>(1 - (1 - cosine * cosine) / (index * index))
  const acrossSum = cosine + index * inside
  const alongSum = index * cosine + inside
  const flow = <f32>4 * cosine * index * inside
  const across = flow / (acrossSum * acrossSum)
  const along = flow / (alongSum * alongSum)
  const bend = cosine / index - inside
  const ux = dx / index + bend * nx
  const uy = dy / index + bend * ny
  const uz = dz / index + bend * nz
  setVector(PX, lane, x, y, z)
  setVector(UX, lane, ux, uy, uz)
  setAxis(lane, dx, dy, dz, nx, ny, nz)
  setNumber(I, lane, (across + along) * 0.5)
  setNumber(Q, lane, (across - along) * 0.5)
  setNumber(U, lane, 0)
  setNumber(V, lane, 0)
  setVector(TURN, lane, 1, 0, 0)
  setVector(TURN + 3, lane, 0, 1, 0)
  setVector(TURN + 6, lane, 0, 0, 1)
  const normalPart = ux * nx + uy * ny + uz * nz
  setVector(ENTRY_NORMAL, lane, nx, ny, nz)
  setVector(TANGENT, lane, ux - normalPart * nx, uy - normalPart * ny, uz - normalPart * nz)
  setNumber(OUTSIDE, lane, 1 - index * index * (1 - normalPart * normalPart))
  setVector(EYE, lane, -dx, -dy, -dz)
  for (let result = SEEN; result <= BRIGHTEST; result++) setNumber(result, lane, 0)
  setInteger(PATH, lane, plane)
  setInteger(FLASH_PATH, lane, plane)
  return true
}

function setVector(first: i32, lane: i32, x: f32, y: f32, z: f32): void {
  setNumber(first, lane, x)
  setNumber(first + 1, lane, y)
  setNumber(first + 2, lane, z)
}

/** Sets the polarisation axis perpendicular to the plane of incidence; at normal incidence to the direction alone. */
function setAxis(lane: i32, dx: f32, dy: f32, dz: f32, nx: f32, ny: f32, nz: f32): void {
  let x = dy * nz - dz * ny
  let y = dz * nx - dx * nz
  let z = dx * ny - dy * nx
  if (x * x + y * y + z * z < MIN_SINE_SQUARE) {
    const isAlongX = abs(dx) > 0.6
    x = isAlongX ? -dz : 0
    y = isAlongX ? 0 : dz
    z = isAlongX ? dx : -dy
  }
  const size = <f32>1 / sqrt<f32>(x * x + y * y + z * z)
  setVector(SX, lane, x * size, y * size, z * size)
}

function finish(lane: i32): void {
  const at = (<usize>integerAt(RAY, lane)) << 2
  store<f32>(BRIGHTNESS + at, numberAt(SEEN, lane))
  store<f32>(FIRE + at, numberAt(COLOUR, lane))
  store<f32>(LEAK + at, numberAt(BELOW, lane))
  store<f32>(FROM_SKY + at, numberAt(ABOVE, lane))
  store<i32>(FLASH + at, integerAt(FLASH_PATH, lane))
}

/**
 * Moves the rays to the planes found and reflects them there, by Fresnel's equations for both polarisations and with the phase shift of
 * total reflection. At a mirror plane the ray continues in the stone's other half.
 */
function reflect(): void {
  const ux = row(UX)
  const uy = row(UY)
  const uz = row(UZ)
  const distance = divide(all(1), nearness)
  setRow(PX, add(row(PX), multiply(distance, ux)))
  setRow(PY, add(row(PY), multiply(distance, uy)))
  setRow(PZ, add(row(PZ), multiply(distance, uz)))
  const plane = nearest
  const nx = gather(NORMAL_X, plane)
  const ny = gather(NORMAL_Y, plane)
  const nz = gather(NORMAL_Z, plane)
  const fold = isFold(plane)
  const path = i32x4.add(i32x4.mul(row(PATH), i32x4.splat(31)), plane)
  setRow(PATH, path)
  const one = all(1)
  const two = all(2)
  const half = all(0.5)
  const zero = all(0)
  const cosine = dot(nx, ny, nz, ux, uy, uz)

  // The polarisation axis becomes perpendicular to the plane of incidence.
  let sx = subtract(multiply(uy, nz), multiply(uz, ny))
  let sy = subtract(multiply(uz, nx), multiply(ux, nz))
  let sz = subtract(multiply(ux, ny), multiply(uy, nx))
  const square = dot(sx, sy, sz, sx, sy, sz)
  const turns = except(f32x4.ge(square, all(MIN_SINE_SQUARE)), fold)
  const size = divide(one, f32x4.sqrt(square))
  sx = multiply(sx, size)
  sy = multiply(sy, size)
  sz = multiply(sz, size)
  const oldX = row(SX)
  const oldY = row(SY)
  const oldZ = row(SZ)
  const turnCosine = dot(oldX, oldY, oldZ, sx, sy, sz)
  const turnSine = dot(
    ux,
    uy,
    uz,
    subtract(multiply(oldY, sz), multiply(oldZ, sy)),
    subtract(multiply(oldZ, sx), multiply(oldX, sz)),
    subtract(multiply(oldX, sy), multiply(oldY, sx)),
  )
  const twiceCosine = choose(turns, subtract(multiply(turnCosine, turnCosine), multiply(turnSine, turnSine)), one)
  const twiceSine = where(turns, multiply(two, multiply(turnCosine, turnSine)))
  const energy = row(I)
  const linear = add(multiply(twiceCosine, row(Q)), multiply(twiceSine, row(U)))
  const diagonal = subtract(multiply(twiceCosine, row(U)), multiply(twiceSine, row(Q)))
  const circular = row(V)
  sx = choose(turns, sx, oldX)
  sy = choose(turns, sy, oldY)
  sz = choose(turns, sz, oldZ)
  const mirrored = where(fold, multiply(two, dot(nx, ny, nz, sx, sy, sz)))
  setRow(SX, subtract(sx, multiply(mirrored, nx)))
  setRow(SY, subtract(sy, multiply(mirrored, ny)))
  setRow(SZ, subtract(sz, multiply(mirrored, nz)))

  // Partial reflection: amplitudes of both polarisations, and the energy that leaves.
  const cosineSquare = subtract(one, multiply(all(index * index), subtract(one, multiply(cosine, cosine))))
  const leaves = except(f32x4.gt(cosineSquare, zero), fold)
  const outside = f32x4.sqrt(f32x4.pmax(cosineSquare, zero))
  const denseCosine = multiply(all(index), cosine)
  const denseOutside = multiply(all(index), outside)
  const acrossSum = divide(one, add(denseCosine, outside))
  const alongSum = divide(one, add(cosine, denseOutside))
  const acrossAmplitude = multiply(subtract(denseCosine, outside), acrossSum)
  const alongAmplitude = multiply(subtract(cosine, denseOutside), alongSum)
  const across = multiply(acrossAmplitude, acrossAmplitude)
  const along = multiply(alongAmplitude, alongAmplitude)
  const both = multiply(acrossAmplitude, alongAmplitude)
  const mean = multiply(half, add(across, along))
  const difference = multiply(half, subtract(across, along))
  const flow = multiply(multiply(two, denseCosine), outside)
  const acrossFlow = multiply(flow, multiply(acrossSum, acrossSum))
  const alongFlow = multiply(flow, multiply(alongSum, alongSum))
  const gone = add(multiply(add(acrossFlow, alongFlow), energy), multiply(subtract(acrossFlow, alongFlow), linear))

  // Total reflection keeps the energy and shifts the phases of the polarisations relative to each other.
  const ratio = all(1 / (index * index))
  const depth = f32x4.pmax(multiply(f32x4.neg(cosineSquare), ratio), zero)
  const real = add(multiply(ratio, multiply(cosine, cosine)), depth)
  const imaginary = multiply(multiply(cosine, f32x4.sqrt(depth)), subtract(one, ratio))
  const norm = divide(one, add(multiply(real, real), multiply(imaginary, imaginary)))
  const shiftCosine = multiply(subtract(multiply(real, real), multiply(imaginary, imaginary)), norm)
  const shiftSine = multiply(multiply(two, multiply(real, imaginary)), norm)

  setRow(I, choose(leaves, add(multiply(mean, energy), multiply(difference, linear)), energy))
  setRow(Q, choose(leaves, add(multiply(difference, energy), multiply(mean, linear)), linear))
  const shiftedDiagonal = add(multiply(shiftCosine, diagonal), multiply(shiftSine, circular))
  const shiftedCircular = subtract(multiply(shiftCosine, circular), multiply(shiftSine, diagonal))
  const newDiagonal = choose(leaves, multiply(both, diagonal), shiftedDiagonal)
  const newCircular = choose(leaves, multiply(both, circular), shiftedCircular)
  setRow(U, choose(fold, f32x4.neg(diagonal), newDiagonal))
  setRow(V, choose(fold, f32x4.neg(circular), newCircular))

  const seen = where(v128.and(leaves, row(ACTIVE)), gone)
  if (v128.any_true(seen)) observe(seen, subtract(outside, denseCosine), cosine, nx, ny, nz)

  for (let third = TURN; third < TURN + 9; third += 3) {
    const a = row(third)
    const b = row(third + 1)
    const c = row(third + 2)
    const twice = multiply(two, dot(a, b, c, nx, ny, nz))
    setRow(third, subtract(a, multiply(twice, nx)))
    setRow(third + 1, subtract(b, multiply(twice, ny)))
    setRow(third + 2, subtract(c, multiply(twice, nz)))
  }
  const twice = multiply(two, cosine)
  setRow(UX, subtract(ux, multiply(twice, nx)))
  setRow(UY, subtract(uy, multiply(twice, ny)))
  setRow(UZ, subtract(uz, multiply(twice, nz)))
}

/**
 * Adds the light that comes in where rays leave to what the eye sees.
 * @param energy of the light, 0 in lanes without
 * @param bend the part of the direction outside along the normal, beyond the index times the direction inside
 */
function observe(energy: v128, bend: v128, cosine: v128, nx: v128, ny: v128, nz: v128): void {
  const ux = row(UX)
  const uy = row(UY)
  const uz = row(UZ)
  const zero = all(0)
  const brighter = f32x4.gt(energy, row(BRIGHTEST))
  setRow(BRIGHTEST, f32x4.pmax(row(BRIGHTEST), energy))
  setRow(FLASH_PATH, choose(brighter, row(PATH), row(FLASH_PATH)))
  const dense = all(index)
  const lx = add(multiply(dense, ux), multiply(bend, nx))
  const ly = add(multiply(dense, uy), multiply(bend, ny))
  const lz = add(multiply(dense, uz), multiply(bend, nz))
  const sky = v128.and(isCrown(nearest), f32x4.gt(lz, zero))
  setRow(ABOVE, add(row(ABOVE), where(sky, energy)))
  const eyeCosine = dot(lx, ly, lz, row(EYE), row(EYE + 1), row(EYE + 2))
  const seen = v128.and(sky, f32x4.gt(eyeCosine, zero))
  setRow(BELOW, add(row(BELOW), except(energy, seen)))
  const fromSky = where(seen, energy)
  if (!v128.any_true(fromSky)) return
  addToRings(fromSky, eyeCosine)
  const bright = except(fromSky, f32x4.gt(eyeCosine, all(headCosine)))
  if (!v128.any_true(bright)) return
  const share = choose(f32x4.gt(eyeCosine, all(brightCosine)), all(1), all(sideBrightness))
  setRow(SEEN, add(row(SEEN), multiply(bright, share)))
  const spread = subtract(multiply(angularDispersion(cosine, nx, ny, nz), all(degrees)), all(blur))
  const colour = multiply(bright, f32x4.pmax(spread, zero))
  setRow(COLOUR, add(row(COLOUR), where(f32x4.gt(bright, zero), colour)))
}

function addToRings(energy: v128, eyeCosine: v128): void {
  setRow(SPARE, energy)
  setRow(SPARE + 1, eyeCosine)
  for (let lane = 0; lane < 4; lane++) {
    const light = numberAt(SPARE, lane)
    if (light == 0) continue
    const cosine = numberAt(SPARE + 1, lane)
    let ring = 0
    while (ring < RINGS - 1 && cosine <= load<f32>(RING_COSINES + ((<usize>ring) << 2))) ring++
    const at = RING_LIGHT + ((<usize>ring) << 3)
    store<f64>(at, load<f64>(at) + <f64>light)
  }
}

/**
 * Angular dispersion at the eye, in radians per unit of refractive index, for light that comes in where the rays leave. Refraction at both
 * ends depends on the index; the reflections between only propagate the difference.
 */
function angularDispersion(cosine: v128, nx: v128, ny: v128, nz: v128): v128 {
  const perIndex = all(1 / index)
  const back = divide(perIndex, cosine)
  const vx = subtract(multiply(nx, back), multiply(row(UX), perIndex))
  const vy = subtract(multiply(ny, back), multiply(row(UY), perIndex))
  const vz = subtract(multiply(nz, back), multiply(row(UZ), perIndex))
  const x = dot(row(TURN), row(TURN + 1), row(TURN + 2), vx, vy, vz)
  const y = dot(row(TURN + 3), row(TURN + 4), row(TURN + 5), vx, vy, vz)
  const z = dot(row(TURN + 6), row(TURN + 7), row(TURN + 8), vx, vy, vz)
  const ex = row(ENTRY_NORMAL)
  const ey = row(ENTRY_NORMAL + 1)
  const ez = row(ENTRY_NORMAL + 2)
  const along = dot(x, y, z, ex, ey, ez)
  const tx = row(TANGENT)
  const ty = row(TANGENT + 1)
  const tz = row(TANGENT + 2)
  const dense = all(index)
  const wx = add(tx, multiply(dense, subtract(x, multiply(along, ex))))
  const wy = add(ty, multiply(dense, subtract(y, multiply(along, ey))))
  const wz = add(tz, multiply(dense, subtract(z, multiply(along, ez))))
  const across = multiply(dense, dot(tx, ty, tz, wx, wy, wz))
  return f32x4.sqrt(add(dot(wx, wy, wz, wx, wy, wz), divide(multiply(across, across), row(OUTSIDE))))
}
