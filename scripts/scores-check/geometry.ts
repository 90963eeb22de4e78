import { modelledShapes, type ModelledShape } from '../../src/domain/scoring/cut/cut.ts'
import { facetAngle, length, subtract, type Vector } from '../../src/domain/scoring/solid/facet.ts'
import { facetModels } from '../../src/domain/scoring/cut/facets.ts'
import { lines, refractiveIndex, weight, widthOf } from '../../src/domain/scoring/light/optics.ts'
import { proportionsOf } from '../../src/domain/scoring/cut/proportions.ts'
import { solidOf, type Solid } from '../../src/domain/scoring/solid/solid.ts'
import { referenceSolid } from '../../src/domain/scoring/cut/trace-cut.ts'
import { near, says, unless, within, type Check } from './check.ts'
import { plain, roundOf } from './designs.ts'

export function indexChecks(): Check[] {
  const slope = (refractiveIndex(0.5886) - refractiveIndex(0.5866)) / 0.002
  const abbe = (refractiveIndex(lines.d) - 1) / (refractiveIndex(lines.F) - refractiveIndex(lines.C))
  return [
    near('index at 0.5876 µm', 2.41748, refractiveIndex(lines.d), 0.00001, 5),
    near('index at the D line', 2.417, refractiveIndex(lines.D), 0.0005, 5),
    near('slope at 0.5876 µm, per µm', -0.131, slope, 0.0005, 4),
    near('Abbe number', 55.3, abbe, 0.05, 2),
    near('dispersion, B to G line', 0.044, refractiveIndex(lines.G) - refractiveIndex(lines.B), 0.0005, 4),
  ]
}

export function geometryChecks(): Check[] {
  const p = { table: 57, crown: 34, pavilion: 40.7, girdle: 2.5, lower: 80, culet: 0 }
  const gia = roundOf(p)
  const zs = (part: string) =>
    gia.faces.filter(({ facet }) => facet.part === part).flatMap(({ corners }) => corners.map(([, , z]) => z))
  const reference = referenceSolid()
  return [
    near('GIA weight-ratio stone: crown height, %', 14.5, 100 * Math.max(...zs('crown')) - 1.25, 0.02, 2),
    near('  pavilion depth, %', 43, -100 * Math.min(...zs('pavilion')) - 1.25, 0.02, 2),
    near('  total depth, %', 60, 100 * gia.depth, 0.02, 2),
    near('lower halves under mains at 41.15°', 42.24, lowerAngle(41.15), 0.01, 3),
    near('lower halves under mains at 41.25°', 42.34, lowerAngle(41.25), 0.01, 3),
    near('reference: 1000 ct / mm³', 3.67, 1000 * weight(reference.volume, 1), 0.005, 4),
    says(
      'reference: diameter of 1 ct, mm',
      '6.4 to 6.5',
      widthOf(1, reference.volume).toFixed(3),
      widthOf(1, reference.volume) <= 6.5,
    ),
    ...brioletteChecks(),
  ]
}

/**
 * A briolette is round in cross-section and covered by triangles (diamonddictionary.net, "briolette"; britannica.com, "drop cut"). Neither
 * size nor weight is published, so its weight factor must be in the GIA's range for mounted diamonds of any shape.
 */
function brioletteChecks(): Check[] {
  const solid = nominalSolid('Briolette')
  const triangles = solid.faces.filter(({ corners }) => sidesOf(corners) === 3).length
  const own = factor(solid)
  return [
    says(
      'briolette: triangles',
      'all facets',
      `${triangles} of ${solid.faces.length}`,
      triangles === solid.faces.length,
    ),
    near('  depth over width: round cross-section', 1, solid.depth / solid.width, 0.01, 3),
    says('  weight factor', '.0057 to .0106, any shape', own.toFixed(5), own >= 0.0057 && own <= 0.0106),
  ]
}

/** Number of distinct corners: where several planes meet in one point, clipping by each of them repeats the corner. */
const sidesOf = (corners: readonly Vector[]): number =>
  corners.filter((corner, index) => corners.slice(0, index).every((other) => length(subtract(corner, other)) > 1e-9))
    .length

function lowerAngle(pavilion: number): number {
  const solid = roundOf({ crown: 35, pavilion, lower: 80 })
  const lower = solid.facets.find(({ name }) => name === 'lower')
  return lower === undefined ? NaN : facetAngle(lower)
}

/** The typical stone of a shape, with its own or another length to width. */
function nominalSolid(shape: ModelledShape, lengthToWidth?: number): Solid {
  const proportions = proportionsOf(plain(shape, 'Typical'))
  return solidOf(facetModels[shape]({ ...proportions, lengthToWidth: lengthToWidth ?? proportions.lengthToWidth }))
}

const factor = (solid: Solid) => weight(solid.volume, 1) / (solid.length * solid.width * solid.depth)

const POINTED =
  'outside the nominal 1.00-1.05; a pyramid has the same factor at any length, but published factors rise, as for a keel, which a princess lacks'
const FULL =
  'contradicts the published diameter: one carat with a ratio of 1.35 and a mean diameter of 5.7 mm has .0085 at a depth of 76 %, which is graded Fair; ours has 69 %'

export function weightChecks(): Check[] {
  const oval = nominalSolid('Oval')
  const onMean = weight(oval.volume, 1) / (((oval.length + oval.width) / 2) ** 2 * oval.depth)
  const long: readonly [number, number][] = [
    [1.25, 0.008],
    [1.5, 0.0092],
    [2, 0.01],
    [2.5, 0.0106],
  ]
  const marquise: readonly [number, number][] = [
    [1.5, 0.00565],
    [1.75, 0.0057],
    [2, 0.0058],
    [2.25, 0.00583],
    [2.5, 0.00585],
    [3, 0.00595],
  ]
  // a1-diamond.com, "Formula for calculating the weight"
  const drops: readonly [number, number][] = [
    [1.25, 0.00615],
    [1.5, 0.006],
    [2, 0.00575],
  ]
  return [
    within('round', 0.0061, factor(nominalSolid('Round')), 5, 5),
    within('oval, on the mean diameter', 0.0062, onMean, 5, 5),
    within('baguette', 0.00915, factor(nominalSolid('Baguette')), 5, 5),
    within('heart', 0.0059, factor(nominalSolid('Heart')), 5, 5),
    within('trillion', 0.0057, factor(nominalSolid('Trillion')), 3, 5),
    ...drops.map(([ratio, published]) => within(`pear ${ratio}`, published, factor(nominalSolid('Pear', ratio)), 3, 5)),
    ...marquise.map(([ratio, published]) =>
      within(`marquise ${ratio}`, published, factor(nominalSolid('Marquise', ratio)), 5, 5),
    ),
    ...long.map(([ratio, published]) =>
      unless(within(`emerald ${ratio}`, published, factor(nominalSolid('Emerald', ratio)), 5, 5), FULL),
    ),
    unless(
      within('emerald at its nominal 1.35 (between 1.25 and 1.5)', 0.00848, factor(nominalSolid('Emerald')), 5, 5),
      FULL,
    ),
    ...long.map(([ratio, published]) =>
      unless(within(`princess ${ratio}`, published, factor(nominalSolid('Princess', ratio)), 5, 5), POINTED),
    ),
  ]
}

/**
 * Mean diameters in mm of 1 ct and 2 ct, market averages (cdn.stonealgo.com/blog/diamond-size-chart; trillions diamondsizechart.com). That
 * source gives rounds only to a tenth (6.3 and 8 mm), so they are from the data set: 5,259 measured stones of 0.98 to 1.03 ct and 1,169 of 1.97
 * to 2.05 ct, each scaled to exactly one and two carats.
 */
const sizes: Readonly<Partial<Record<ModelledShape, readonly [number, number]>>> = {
  Asscher: [5.4, 6.9],
  CushionBrilliant: [5.6, 7.2],
  CushionModified: [5.6, 7.2],
  Emerald: [5.7, 7.2],
  Heart: [6.4, 8.1],
  Marquise: [7.7, 9.6],
  Oval: [6.7, 8.4],
  Pear: [7.1, 8.9],
  Princess: [5.3, 6.8],
  Radiant: [5.7, 7.3],
  Round: [6.388, 8.066],
  Trillion: [7.74, 9.75],
}

/**
 * A solid has one size, so it is compared with the mean of the sizes for one carat and, scaled, for two, which differ by up to 2 % (marquises:
 * 7.7 mm, and 9.6 mm for two carats is 7.62 mm for one).
 */
export function sizeChecks(): Check[] {
  return modelledShapes.flatMap((shape) => {
    const [one, two] = sizes[shape] ?? []
    if (one === undefined || two === undefined) return []
    const solid = nominalSolid(shape)
    const published = (one + two / Math.cbrt(2)) / 2
    return within(`${shape}, 1 ct`, published, (widthOf(1, solid.volume) * (solid.length + solid.width)) / 2, 1, 2)
  })
}
