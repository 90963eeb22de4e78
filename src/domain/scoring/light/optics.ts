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
