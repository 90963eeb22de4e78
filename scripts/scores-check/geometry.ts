import { modelledShapes, type ModelledShape } from '../../src/domain/scoring/cut/cut.ts'
import { facetAngle } from '../../src/domain/scoring/solid/facet.ts'
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
  ]
}

function lowerAngle(pavilion: number): number {
  const solid = roundOf({ crown: 35, pavilion, lower: 80 })
  const lower = solid.facets.find(({ name }) => name === 'lower')
  return lower === undefined ? NaN : facetAngle(lower)
}

/** The shape in the grade that stands for an unknown one, at another length. */
function nominalSolid(shape: ModelledShape, lengthToWidth?: number): Solid {
  const proportions = proportionsOf(plain(shape, 'Very Good'))
  return solidOf(facetModels[shape]({ ...proportions, lengthToWidth: lengthToWidth ?? proportions.lengthToWidth }))
}

const factor = (solid: Solid) => weight(solid.volume, 1) / (solid.length * solid.width * solid.depth)

const POINTED =
  'outside the nominal 1.00-1.05; a pyramid keeps its factor at any length, published ones rise with a keel that a princess lacks'
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
  return [
    within('round', 0.0061, factor(nominalSolid('Round')), 5, 5),
    within('oval, on the mean diameter', 0.0062, onMean, 5, 5),
    within('heart', 0.0059, factor(nominalSolid('Heart')), 5, 5),
    ...marquise.map(([ratio, published]) =>
      within(`marquise ${ratio}`, published, factor(nominalSolid('Marquise', ratio)), 5, 5),
    ),
    ...long.map(([ratio, published]) =>
      within(`emerald ${ratio}`, published, factor(nominalSolid('Emerald', ratio)), 5, 5),
    ),
    within('emerald at its own 1.35 (between 1.25 and 1.5)', 0.00848, factor(nominalSolid('Emerald')), 5, 5),
    ...long.map(([ratio, published]) =>
      unless(within(`princess ${ratio}`, published, factor(nominalSolid('Princess', ratio)), 5, 5), POINTED),
    ),
  ]
}

/** Mean diameter of 1 ct and 2 ct, market averages. */
const sizes: Readonly<Record<ModelledShape, readonly [number, number]>> = {
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
  Round: [6.3, 8],
}

export function sizeChecks(): Check[] {
  return modelledShapes.flatMap((shape) => {
    const solid = nominalSolid(shape)
    const mean = (carat: number) => (widthOf(carat, solid.volume) * (solid.length + solid.width)) / 2
    const [one, two] = sizes[shape]
    return [within(`${shape}, 1 ct`, one, mean(1), 3, 2), within(`${shape}, 2 ct`, two, mean(2), 3, 2)]
  })
}
