/**
 * A ray inside the tracer's loop: one array for its whole life, so that tracing allocates nothing.
 * X Y Z: position. DX DY DZ: direction. SX SY SZ: the axis of its polarisation, at right angles to the direction.
 * I Q U V: Stokes parameters on that axis, energy as part of the light that came. REACH: distance to the plane it meets.
 * OX OY OZ: direction of the light that leaves where it meets a plane.
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
export const REACH = 13
export const OX = 14
export const OY = 15
export const OZ = 16

export const newRay = (): Ray => new Float64Array(17)
