/**
 * A ray in the tracer's loop, stored in one array that is reused, so that tracing allocates nothing.
 * X Y Z: position. DX DY DZ: direction. SX SY SZ: polarisation axis, perpendicular to the direction.
 * I Q U V: Stokes parameters relative to that axis; energies are fractions of the incident light. DISTANCE: to the next plane.
 * OX OY OZ: direction of the light that leaves the stone at a plane.
 */
export type Ray = Float64Array

export const X = 0
export const Y = 1
export const Z = 2
export const DX = 3
export const DY = 4
export const DZ = 5
export const SX = 6
export const SY = 7
export const SZ = 8
export const I = 9
export const Q = 10
export const U = 11
export const V = 12
export const DISTANCE = 13
export const OX = 14
export const OY = 15
export const OZ = 16

export const newRay = (): Ray => new Float64Array(17)
