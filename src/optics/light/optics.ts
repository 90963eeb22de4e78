/**
 * Array elements at indices that are known to be valid. There is one function per array type, because a call site that reads arrays of
 * two types makes the tracer four times slower.
 */
export const at = (numbers: Float64Array, index: number): number => numbers[index] ?? 0
export const integerAt = (numbers: Int32Array, index: number): number => numbers[index] ?? 0

/** Rounds to six decimals: sines may differ in the last digit between JavaScript engines, stored figures must not. */
export const roundToSixDecimals = (value: number): number => Math.round(value * 1e6) / 1e6

/** Wavelengths of Fraunhofer lines in micrometres: F blue, D yellow (d: the helium line), C red; B and G define the trade's "dispersion". */
export const lines = { B: 0.6867, C: 0.6563, d: 0.5876, D: 0.5893, F: 0.4861, G: 0.4308 } as const

/**
 * The refractive index of diamond at a wavelength in micrometres: Sellmeier equation with Peter's coefficients
 * (refractiveindex.info, material C).
 */
export function refractiveIndex(wavelength: number): number {
  const square = wavelength * wavelength
  return Math.sqrt(1 + (4.3356 * square) / (square - 0.106 ** 2) + (0.3306 * square) / (square - 0.175 ** 2))
}

/** g/cm³ */
const DENSITY = 3.52
const GRAMS_A_CARAT = 0.2

/** The weight in carats of a stone `width` mm wide, whose volume is `volume` times the cube of its width. */
export const weight = (volume: number, width: number): number => (volume * width ** 3 * DENSITY) / 1000 / GRAMS_A_CARAT

/** The weight in carats of a volume in mm³. */
export const caratsOf = (volume: number): number => weight(volume, 1)

/** The width in mm of a stone of this weight, whose volume is `volume` times the cube of its width. */
export const widthOf = (carat: number, volume: number): number =>
  Math.cbrt((carat * GRAMS_A_CARAT * 1000) / DENSITY / volume)

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
