/**
 * Elements of typed arrays that are known to be there. One function for each type: the tracer is four times slower when one
 * place in the code reads arrays of two types.
 */
export const at = (numbers: Float64Array, index: number): number => numbers[index] ?? 0
export const integerAt = (numbers: Int32Array, index: number): number => numbers[index] ?? 0

/** Six decimals: sines may differ in the last digit between engines, stored figures may not. */
export const roundToSixDecimals = (value: number): number => Math.round(value * 1e6) / 1e6

/** Wavelengths of Fraunhofer's lines in micrometres: F blue, D (the helium d line) yellow, C red, and B and G for the trade's "dispersion". */
export const lines = { B: 0.6867, C: 0.6563, d: 0.5876, D: 0.5893, F: 0.4861, G: 0.4308 } as const

/**
 * Diamond's refractive index at a wavelength in micrometres, by Sellmeier's equation with Peter's coefficients
 * (refractiveindex.info, material C).
 */
export function refractiveIndex(wavelength: number): number {
  const square = wavelength * wavelength
  return Math.sqrt(1 + (4.3356 * square) / (square - 0.106 ** 2) + (0.3306 * square) / (square - 0.175 ** 2))
}

/** In g/cm³. */
const DENSITY = 3.52
const GRAMS_A_CARAT = 0.2

/** Carats of a stone that is `width` mm wide and whose volume is `volume` in cubes of that width. */
export const weight = (volume: number, width: number): number => (volume * width ** 3 * DENSITY) / 1000 / GRAMS_A_CARAT

/** Carats of a volume in mm³. */
export const caratsOf = (volume: number): number => weight(volume, 1)

/** The width in mm of a stone of that weight. */
export const widthOf = (carat: number, volume: number): number =>
  Math.cbrt((carat * GRAMS_A_CARAT * 1000) / DENSITY / volume)

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
