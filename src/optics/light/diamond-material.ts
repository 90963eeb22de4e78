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
