// The search for the planes that rays meet. The stone's planes are ordered by part: crown, pavilion, the mirror plane (fold) of a stone
// that is traced by one half, and girdle. They are padded to a multiple of four with planes that no ray meets.
import {
  ACTIVE,
  ADDRESS,
  integerAt,
  NORMAL_X,
  NORMAL_Y,
  NORMAL_Z,
  numberAt,
  OFFSET,
  PX,
  PY,
  PZ,
  row,
  setRow,
  SPARE,
  UX,
  UY,
  UZ,
} from './memory'
import { add, all, choose, divide, dot, except, multiply, subtract } from './vectors'

/** Addresses relative to the arrays of planes, where parts start and all end. */
let pavilionFrom: i32 = 0
let foldFrom: i32 = 0
let girdleFrom: i32 = 0
let end: i32 = 0
/** An ellipse inside the girdle: the reciprocals of its squared semi-axes, and the y coordinate of its centre. */
let innerAcross: f32 = 0
let innerAlong: f32 = 0
let innerMiddle: f32 = 0

/** @param pavilion, fold, girdle, count indices of the first plane of these parts, and number of planes, a multiple of four */
export function setParts(pavilion: i32, fold: i32, girdle: i32, count: i32): void {
  pavilionFrom = pavilion << 2
  foldFrom = fold << 2
  girdleFrom = girdle << 2
  end = count << 2
}

export function setInnerEllipse(across: f32, along: f32, middle: f32): void {
  innerAcross = across
  innerAlong = along
  innerMiddle = middle
}

/** The reciprocal of a distance larger than any stone. */
const FAR: f32 = 0.01
/** Rounding may put a ray slightly outside a plane that it has just met. */
const MIN_GAP = memory.data<f32>([1e-12])

/** For each lane the reciprocal of the distance to the nearest plane, and the plane's address. */
export let nearness: v128 = f32x4.splat(0)
export let nearest: v128 = i32x4.splat(0)

/**
 * Finds the planes that the four rays meet next. Speed over gap is the reciprocal of the distance, so the nearest plane has the largest
 * one; it is negative for planes that the ray leaves behind, as that on which it starts. The girdle is searched only for the rays that
 * would otherwise meet a plane outside its inner ellipse.
 */
export function findNearest(): void {
  const x = row(PX)
  const y = row(PY)
  const z = row(PZ)
  const ux = row(UX)
  const uy = row(UY)
  const uz = row(UZ)
  const minGap = all(load<f32>(MIN_GAP))
  let best = all(FAR)
  let plane = i32x4.splat(0)
  for (let address: usize = 0; address < <usize>girdleFrom; address += 4) {
    const nx = v128.load32_splat(address, NORMAL_X)
    const ny = v128.load32_splat(address, NORMAL_Y)
    const nz = v128.load32_splat(address, NORMAL_Z)
    const speed = dot(nx, ny, nz, ux, uy, uz)
    const gap = subtract(v128.load32_splat(address, OFFSET), dot(nx, ny, nz, x, y, z))
    const rate = divide(speed, f32x4.pmax(gap, minGap))
    plane = choose(f32x4.gt(rate, best), v128.load32_splat(address, ADDRESS), plane)
    best = f32x4.pmax(best, rate)
  }
  nearness = best
  nearest = plane
  const distance = divide(all(1), best)
  const across = add(x, multiply(distance, ux))
  const along = subtract(add(y, multiply(distance, uy)), all(innerMiddle))
  const square = add(
    multiply(multiply(across, across), all(innerAcross)),
    multiply(multiply(along, along), all(innerAlong)),
  )
  let lanes = i32x4.bitmask(except(row(ACTIVE), f32x4.lt(square, all(1))))
  while (lanes != 0) {
    searchGirdle(ctz(lanes))
    lanes &= lanes - 1
  }
}

/** Replaces the nearest plane of a lane by the girdle plane that is nearer, if there is one. The first four may include others. */
function searchGirdle(lane: i32): void {
  const x = all(numberAt(PX, lane))
  const y = all(numberAt(PY, lane))
  const z = all(numberAt(PZ, lane))
  const ux = all(numberAt(UX, lane))
  const uy = all(numberAt(UY, lane))
  const uz = all(numberAt(UZ, lane))
  const minGap = all(load<f32>(MIN_GAP))
  setRow(SPARE, nearness)
  setRow(SPARE + 1, nearest)
  let best = all(numberAt(SPARE, lane))
  let plane = i32x4.splat(integerAt(SPARE + 1, lane))
  for (let address: usize = girdleFrom & ~15; address < <usize>end; address += 16) {
    const nx = v128.load(address, NORMAL_X)
    const ny = v128.load(address, NORMAL_Y)
    const nz = v128.load(address, NORMAL_Z)
    const speed = dot(nx, ny, nz, ux, uy, uz)
    const gap = subtract(v128.load(address, OFFSET), dot(nx, ny, nz, x, y, z))
    const rate = divide(speed, f32x4.pmax(gap, minGap))
    plane = choose(f32x4.gt(rate, best), v128.load(address, ADDRESS), plane)
    best = f32x4.pmax(best, rate)
  }
  const isBest = f32x4.eq(best, largest(best))
  const mask = i32x4.eq(i32x4(0, 1, 2, 3), i32x4.splat(lane))
  nearness = choose(mask, largest(best), nearness)
  nearest = choose(mask, i32x4.splat(firstOf(plane, isBest)), nearest)
}

/** The largest of four numbers, in all lanes. */
function largest(values: v128): v128 {
  const pairs = f32x4.pmax(values, v128.shuffle<i32>(values, values, 2, 3, 0, 1))
  return f32x4.pmax(pairs, v128.shuffle<i32>(pairs, pairs, 1, 0, 3, 2))
}

/** The integer in the first lane of a mask. */
function firstOf(integers: v128, mask: v128): i32 {
  setRow(SPARE, integers)
  return integerAt(SPARE, ctz(i32x4.bitmask(mask)))
}

/** The distance from a point outside the stone to the plane that `findEntry` found. */
export let entryDistance: f32 = 0

/**
 * The address of the plane through which a line enters the stone: the last of the planes that it crosses inwards; -1 if it crosses a plane
 * outwards before, or enters the stone's other half.
 */
export function findEntry(px: f32, py: f32, pz: f32, dx: f32, dy: f32, dz: f32): i32 {
  const x = all(px)
  const y = all(py)
  const z = all(pz)
  const ux = all(dx)
  const uy = all(dy)
  const uz = all(dz)
  let entry = all(-1 / FAR)
  let exit = all(1 / FAR)
  let plane = i32x4.splat(-1)
  for (let address: usize = 0; address < <usize>end; address += 16) {
    const nx = v128.load(address, NORMAL_X)
    const ny = v128.load(address, NORMAL_Y)
    const nz = v128.load(address, NORMAL_Z)
    const speed = dot(nx, ny, nz, ux, uy, uz)
    const distance = divide(subtract(v128.load(address, OFFSET), dot(nx, ny, nz, x, y, z)), speed)
    const enters = v128.and(f32x4.lt(speed, all(0)), f32x4.gt(distance, entry))
    entry = choose(enters, distance, entry)
    plane = choose(enters, v128.load(address, ADDRESS), plane)
    exit = choose(v128.and(f32x4.gt(speed, all(0)), f32x4.lt(distance, exit)), distance, exit)
  }
  const last = largest(entry)
  entryDistance = f32x4.extract_lane(last, 0)
  if (entryDistance >= -f32x4.extract_lane(largest(f32x4.neg(exit)), 0)) return -1
  const found = firstOf(plane, f32x4.eq(entry, last))
  return found >= foldFrom && found < girdleFrom ? -1 : found
}

export function isCrown(addresses: v128): v128 {
  return i32x4.lt_s(addresses, i32x4.splat(pavilionFrom))
}

/** Whether the planes are the mirror plane of a stone that is traced by one half. */
export function isFold(addresses: v128): v128 {
  return v128.and(i32x4.ge_s(addresses, i32x4.splat(foldFrom)), i32x4.lt_s(addresses, i32x4.splat(girdleFrom)))
}

/** The components of the normals of four planes. */
export function gather(component: usize, addresses: v128): v128 {
  let values = v128.load32_zero(component + <usize>i32x4.extract_lane(addresses, 0))
  values = v128.load_lane<f32>(component + <usize>i32x4.extract_lane(addresses, 1), values, 1)
  values = v128.load_lane<f32>(component + <usize>i32x4.extract_lane(addresses, 2), values, 2)
  return v128.load_lane<f32>(component + <usize>i32x4.extract_lane(addresses, 3), values, 3)
}
