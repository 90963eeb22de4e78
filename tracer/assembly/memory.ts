// All memory is static. The addresses of arrays that JavaScript reads and writes are exported by tracer.ts.

/** Number of rays in a batch. */
export const MAX_RAYS: i32 = 4096
export const MAX_PLANES: i32 = 1024
/** Bytes of a number and of four. */
const NUMBER: i32 = 4
const FOUR: i32 = 16

/** A line along which light is traced: a point on it, its direction into the stone, and the plane through which it enters. */
export const X = memory.data(NUMBER * MAX_RAYS, FOUR)
export const Y = memory.data(NUMBER * MAX_RAYS, FOUR)
export const Z = memory.data(NUMBER * MAX_RAYS, FOUR)
export const DX = memory.data(NUMBER * MAX_RAYS, FOUR)
export const DY = memory.data(NUMBER * MAX_RAYS, FOUR)
export const DZ = memory.data(NUMBER * MAX_RAYS, FOUR)
export const ENTRY = memory.data(NUMBER * MAX_RAYS, FOUR)

/** What is found along it. */
export const BRIGHTNESS = memory.data(NUMBER * MAX_RAYS, FOUR)
export const FIRE = memory.data(NUMBER * MAX_RAYS, FOUR)
export const LEAK = memory.data(NUMBER * MAX_RAYS, FOUR)
export const FROM_SKY = memory.data(NUMBER * MAX_RAYS, FOUR)
export const FLASH = memory.data(NUMBER * MAX_RAYS, FOUR)

/** The planes of the stone: the components of their normals, and their distances from the origin. */
export const NORMAL_X = memory.data(NUMBER * MAX_PLANES, FOUR)
export const NORMAL_Y = memory.data(NUMBER * MAX_PLANES, FOUR)
export const NORMAL_Z = memory.data(NUMBER * MAX_PLANES, FOUR)
export const OFFSET = memory.data(NUMBER * MAX_PLANES, FOUR)
/** The address of each plane's numbers relative to the arrays, so that a search can load it as a number like the others. */
export const ADDRESS = memory.data(NUMBER * MAX_PLANES, FOUR)

/** The cosines of the outer edges of the sky's rings, and the light that came from each ring. */
export const RINGS: i32 = 18
export const RING_COSINES = memory.data(NUMBER * RINGS, FOUR)
export const RING_LIGHT = memory.data(8 * RINGS, FOUR)

/** The state of the four rays that are traced at the same time: rows of four numbers, one for each lane. */
const ROWS = memory.data(FOUR * 48, FOUR)

/** Position and direction. */
export const PX = 0
export const PY = 1
export const PZ = 2
export const UX = 3
export const UY = 4
export const UZ = 5
/** Polarisation axis, and the Stokes parameters relative to it; energies are fractions of the incident light. */
export const SX = 6
export const SY = 7
export const SZ = 8
export const I = 9
export const Q = 10
export const U = 11
export const V = 12
/** The product of the reflections so far, row by row: it turns a difference of directions at the last plane into one at the first. */
export const TURN = 13
/** The normal of the plane of entry, the part of the first direction inside that lies in that plane, and the squared cosine outside. */
export const ENTRY_NORMAL = 22
export const TANGENT = 25
export const OUTSIDE = 28
/** The direction to the eye. */
export const EYE = 29
/** Results so far; `PATH` is a hash of the planes met, and `BRIGHTEST` the largest energy that has left. */
export const SEEN = 32
export const COLOUR = 33
export const BELOW = 34
export const ABOVE = 35
export const BRIGHTEST = 36
export const PATH = 37
export const FLASH_PATH = 38
/** The index of the ray in its batch, and the number of planes that it has met. */
export const RAY = 39
export const HITS = 40
/** All ones if the lane traces a ray. */
export const ACTIVE = 41
/** Two rows for moving single lanes out of and into vectors. */
export const SPARE = 42

export function row(index: i32): v128 {
  return v128.load(ROWS + <usize>(index * FOUR))
}

export function setRow(index: i32, values: v128): void {
  v128.store(ROWS + <usize>(index * FOUR), values)
}

export function numberAt(index: i32, lane: i32): f32 {
  return load<f32>(ROWS + <usize>(index * FOUR + lane * NUMBER))
}

export function setNumber(index: i32, lane: i32, value: f32): void {
  store<f32>(ROWS + <usize>(index * FOUR + lane * NUMBER), value)
}

export function integerAt(index: i32, lane: i32): i32 {
  return load<i32>(ROWS + <usize>(index * FOUR + lane * NUMBER))
}

export function setInteger(index: i32, lane: i32, value: i32): void {
  store<i32>(ROWS + <usize>(index * FOUR + lane * NUMBER), value)
}
