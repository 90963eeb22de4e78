import type { Solid } from '../solid/solid.ts'
import { radians } from '../solid/facet.ts'
import { at, integerAt } from './typed-arrays.ts'
import { toPlaneSet, type PlaneSet } from './planes.ts'
import { aimFrom, SEQUENCE_STEPS_2D, viewFrom, type View } from './view.ts'
import { isFromSky, newPath, trace, type LightPath } from './trace.ts'

/**
 * Angular dispersion at the eye, in radians per unit of refractive index, for light that enters where the path left the stone at `hit`.
 * Multiplied by an index difference it is the angle between two colours. Refraction at entry and exit depends on the index; reflections
 * only propagate the difference.
 */
export function angularDispersion(path: LightPath, { planes }: PlaneSet, hit: number, index: number): number {
  const base = 4 * integerAt(path.planes, hit)
  const nx = at(planes, base)
  const ny = at(planes, base + 1)
  const nz = at(planes, base + 2)
  const ux = at(path.inside, 3 * hit)
  const uy = at(path.inside, 3 * hit + 1)
  const uz = at(path.inside, 3 * hit + 2)
  const cosine = ux * nx + uy * ny + uz * nz
  const back = 1 / (index * cosine)
  let x = nx * back - ux / index
  let y = ny * back - uy / index
  let z = nz * back - uz / index
  for (let before = hit - 1; before > 0; before--) {
    const mirror = 4 * integerAt(path.planes, before)
    const mx = at(planes, mirror)
    const my = at(planes, mirror + 1)
    const mz = at(planes, mirror + 2)
    const twice = 2 * (x * mx + y * my + z * mz)
    x -= twice * mx
    y -= twice * my
    z -= twice * mz
  }
  return exitDispersion(path, planes, index, x, y, z)
}

/** The refraction at the exit: the change of the outside direction for a change (x y z) of the inside direction. */
function exitDispersion(path: LightPath, planes: Float64Array, index: number, x: number, y: number, z: number): number {
  const base = 4 * integerAt(path.planes, 0)
  const nx = at(planes, base)
  const ny = at(planes, base + 1)
  const nz = at(planes, base + 2)
  const ux = at(path.inside, 3)
  const uy = at(path.inside, 4)
  const uz = at(path.inside, 5)
  const cosine = ux * nx + uy * ny + uz * nz
  const normalComponent = x * nx + y * ny + z * nz
  const tx = ux - cosine * nx
  const ty = uy - cosine * ny
  const tz = uz - cosine * nz
  const wx = tx + index * (x - normalComponent * nx)
  const wy = ty + index * (y - normalComponent * ny)
  const wz = tz + index * (z - normalComponent * nz)
  const outside = 1 - index * index * (1 - cosine * cosine)
  const across = index * (tx * wx + ty * wy + tz * wz)
  return Math.sqrt(wx * wx + wy * wy + wz * wz + (across * across) / outside)
}

/** The face in square cells. A cell is a seventh as wide as a round of the same area. */
type BrightnessGrid = {
  readonly cellsPerRow: number
  /** Spots per cell in each direction. */
  readonly spotsPerCell: number
  readonly light: Float64Array
  readonly spots: Float64Array
}

const ACROSS = 7
const DARKEST = 1 / 5

/**
 * @param spotsAcross number of spots across a round of the stone's area
 * @param spotsPerRow number of spots in a row of the grid, which covers the whole stone
 */
export function createBrightnessGrid(spotsAcross: number, spotsPerRow: number): BrightnessGrid {
  const spotsPerCell = spotsAcross / ACROSS
  const cellsPerRow = Math.ceil((spotsPerRow + 1) / spotsPerCell)
  return {
    cellsPerRow,
    spotsPerCell,
    light: new Float64Array(cellsPerRow * cellsPerRow),
    spots: new Float64Array(cellsPerRow * cellsPerRow),
  }
}

/** Adds the brightness of a spot; `x` and `y` count spots from the left and from below. */
export function addToCells(
  { cellsPerRow, spotsPerCell, light, spots }: BrightnessGrid,
  x: number,
  y: number,
  brightness: number,
): void {
  const cell = Math.floor(y / spotsPerCell) * cellsPerRow + Math.floor(x / spotsPerCell)
  light[cell] = at(light, cell) + brightness
  spots[cell] = at(spots, cell) + 1
}

/** Mean brightness of the darkest fifth of the cells, relative to the mean of all. Cells less than half covered by the stone are ignored. */
export function evennessOf({ light, spots }: BrightnessGrid): number {
  const enough = Math.max(...spots) / 2
  const means = [...light.keys()]
    .filter((cell) => at(spots, cell) > enough)
    .map((cell) => at(light, cell) / at(spots, cell))
  means.sort((a, b) => a - b)
  const darkest = means.slice(0, Math.max(1, Math.floor(means.length * DARKEST)))
  const overall = mean(means)
  return overall > 0 ? mean(darkest) / overall : 0
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Face-up appearance of a rocked stone, for two eyes. Dimensionless, except fire. */
export type FaceUpMetrics = {
  readonly brightness: number
  /** Mean difference of brightness between neighbouring spots. */
  readonly contrast: number
  /** Effective number of 5° rings of the sky from which light comes: the exponential of the entropy over the rings. */
  readonly variety: number
  /** Fraction of the face that stays lit when the stone is tilted. */
  readonly lit: number
  /** Brightness of the darkest fifth of the face relative to the whole face: low for a dark ring, bow tie or centre. */
  readonly evenness: number
  /** Fraction of the face outside the largest facet, which is the table in most shapes. */
  readonly frame: number
  /** As `fire`, but seen through the largest facet, and flashes of all sizes count fully. Degrees. */
  readonly tableFire: number
  /** Fraction of the light seen through the largest facet that comes from below the stone. */
  readonly tableLeak: number
  /** Mean over the face of the angle between F and C light beyond what an eye blurs, times its energy. Small flashes count less. Degrees. */
  readonly fire: number
}

/**
 * Compares the face-up appearance of two stones: 1 if a stone reaches the reference in every figure. The result is a product, so a
 * stone that is dull in one respect scores low, whatever its other figures are.
 *
 * Brightness, evenness, lit, frame, table fire and table leakage lower the result if they are worse than the reference's; better values
 * add nothing. Contrast and variety count in both directions. The exponent of brightness is a third, because twice the light does not
 * look twice as bright (S. S. Stevens, Science 133, 1961: exponents of 0.33 to 0.5). The other exponents fit rounds to the GIA's grades
 * on three of its charts (docs/decisions/0091).
 * @param styleFrame the frame of a stone of this shape with the largest table published as its best; a smaller frame lowers the result
 * @returns 0 to 1.01
 */
export function compareFaces(face: FaceUpMetrics, reference: FaceUpMetrics, styleFrame: number): number {
  const capped = (own: number, full: number) => Math.min(1, own / full)
  const product =
    capped(face.brightness, reference.brightness) ** (1 / 3) *
    capped(face.evenness, reference.evenness) ** 0.25 *
    capped(face.lit, reference.lit) ** 0.75 *
    capped(face.frame, styleFrame) ** 1.5 *
    (1 - TABLE_FIRE_SHARE * (1 - capped(face.tableFire, reference.tableFire))) *
    capped(1 - face.tableLeak, 1 - reference.tableLeak) ** 0.75 *
    (face.contrast / reference.contrast) ** 0.75 *
    (face.variety / reference.variety)
  return Math.min(MAX_RESULT, product)
}

/** Maximum loss for a table without fire: it looks like glass, but not dark. */
const TABLE_FIRE_SHARE = 0.4

/** The reference is among the best stones, so no stone is better by more than the rounding of a score. */
const MAX_RESULT = 1.01

/** Degrees from the zenith: two eyes, 63 mm apart at a distance of 30 cm, and the view of a tilted stone. */
const EYE_ANGLE = 6
const TILT_ANGLE = 15
/** Azimuths of the eyes in degrees, chosen so that they are not in mirror planes of the facets. */
const AZIMUTHS = [7, 97, 187, 277]
/** Added to the azimuths for the tilted stone. */
const TILTED_AZIMUTH_OFFSET = 45

/** Spots across a round of the stone's area: 0.23 mm apart for one carat. An eye at 30 cm sees no smaller flash. */
const SPOTS = 28
/** Number of grids per view, shifted against each other. */
const GRIDS = 4

/**
 * The sky around the eye, with the zones of the Angular Spectrum Evaluation Tool: the viewer's head blocks 15 degrees, the next 30 are
 * bright, and the rest is half as bright.
 */
const RING = 5
const RINGS = 90 / RING
const HEAD_RINGS = 15 / RING
const BRIGHT_RINGS = 45 / RING
const SIDE_BRIGHTNESS = 0.5
const MIN_LIT_BRIGHTNESS = 0.2
/**
 * Degrees between F and C light that an eye blurs. All visible light spreads 2.1 times as far, and must spread over a pupil of 3 mm at
 * 40 cm (0.43°) and the lamp (0.1°).
 */
const BLUR_DEGREES = 0.25
const CUT_OFF = 0.01

/**
 * Measures the face-up appearance from eight directions.
 * @param dispersion refractive index at the F line minus that at the C line
 * @param fineness multiple of the usual number of grids
 */
export function measureFaceUp(solid: Solid, index: number, dispersion: number, fineness = 1): FaceUpMetrics {
  const planes = toPlaneSet(solid)
  const scene: ViewingSetup = {
    planes,
    path: newPath(),
    index,
    degrees: (dispersion * 180) / Math.PI,
    ...spotsOf(solid),
  }
  const faceUp = newSums(planes.count)
  const tilted = newSums(planes.count)
  const shifts = Array.from(
    { length: GRIDS * fineness },
    (_, grid) =>
      [offsetFromInteger(grid * SEQUENCE_STEPS_2D[0]), offsetFromInteger(grid * SEQUENCE_STEPS_2D[1])] as const,
  )
  for (const azimuth of AZIMUTHS) {
    const eyeView = viewFrom(planes, radians(EYE_ANGLE), radians(azimuth))
    const tiltedView = viewFrom(planes, radians(TILT_ANGLE), radians(azimuth + TILTED_AZIMUTH_OFFSET))
    addView(faceUp, scene, eyeView, shifts)
    addView(tilted, scene, tiltedView, shifts)
  }
  const mean = (figure: (sums: FaceUpSums) => number) => (figure(faceUp) + figure(tilted)) / 2
  const largest = faceUp.spotsByFacet.indexOf(Math.max(...faceUp.spotsByFacet))
  return {
    brightness: mean(({ brightness, spots }) => brightness / spots),
    contrast: mean(({ difference, pairs }) => difference / pairs),
    variety: directionVariety(faceUp.rings.map((ring, index) => ring + at(tilted.rings, index))),
    lit: tilted.lit / tilted.spots,
    evenness: mean(({ evenness }) => evenness / AZIMUTHS.length),
    frame: 1 - at(faceUp.spotsByFacet, largest) / faceUp.spots,
    tableFire: mean(
      ({ fireByFacet, spotsByFacet }) => at(fireByFacet, largest) / Math.max(1, at(spotsByFacet, largest)),
    ),
    tableLeak: mean(
      ({ leakByFacet, spotsByFacet }) => at(leakByFacet, largest) / Math.max(1, at(spotsByFacet, largest)),
    ),
    fire: mean(({ fire, spots }) => fire / spots),
  }
}

/** The distance from the nearest integer, from -0.5 to 0.5. */
const offsetFromInteger = (value: number): number => value - Math.round(value)

type ViewingSetup = {
  readonly planes: PlaneSet
  readonly path: LightPath
  readonly index: number
  /** Degrees between F and C light for an angular dispersion of one radian per unit of index. */
  readonly degrees: number
  /** Distance between spots in widths of the stone, and number of spots in a row. */
  readonly step: number
  readonly spotsPerRow: number
}

function spotsOf({ faceUpArea, width, length }: Solid): Pick<ViewingSetup, 'step' | 'spotsPerRow'> {
  const step = Math.sqrt((4 * faceUpArea) / Math.PI) / SPOTS
  return { step, spotsPerRow: Math.ceil((1.1 * Math.max(width, length)) / step) }
}

type FaceUpSums = {
  spots: number
  pairs: number
  brightness: number
  difference: number
  lit: number
  fire: number
  evenness: number
  /** Light by angular distance from the eye, per ring. */
  readonly rings: Float64Array
  /** Per facet through which spots are seen: number of spots, their fire and their light from below. */
  readonly spotsByFacet: Float64Array
  readonly fireByFacet: Float64Array
  readonly leakByFacet: Float64Array
}

const newSums = (facets: number): FaceUpSums => ({
  spots: 0,
  pairs: 0,
  brightness: 0,
  difference: 0,
  lit: 0,
  fire: 0,
  evenness: 0,
  rings: new Float64Array(RINGS),
  spotsByFacet: new Float64Array(facets),
  fireByFacet: new Float64Array(facets),
  leakByFacet: new Float64Array(facets),
})

/** Spots outside the stone have brightness NaN. Neighbours with the same path hash belong to the same flash. */
type SpotGrid = { readonly brightness: Float64Array; readonly fire: Float64Array; readonly pathHash: Int32Array }

function addView(
  sums: FaceUpSums,
  scene: ViewingSetup,
  view: View,
  shifts: readonly (readonly [number, number])[],
): void {
  const cells = createBrightnessGrid(SPOTS, scene.spotsPerRow)
  for (const shift of shifts) addGrid(sums, scene, view, shift, cells)
  sums.evenness += evennessOf(cells)
}

function addGrid(
  sums: FaceUpSums,
  scene: ViewingSetup,
  view: View,
  [across, along]: readonly [number, number],
  cells: BrightnessGrid,
): void {
  const { spotsPerRow, step } = scene
  const spots: SpotGrid = {
    brightness: new Float64Array(spotsPerRow * spotsPerRow).fill(NaN),
    fire: new Float64Array(spotsPerRow * spotsPerRow),
    pathHash: new Int32Array(spotsPerRow * spotsPerRow),
  }
  for (let spot = 0; spot < spotsPerRow * spotsPerRow; spot++) {
    const [x, y] = [
      ((spot % spotsPerRow) + 0.5 - spotsPerRow / 2 + across) * step,
      (Math.floor(spot / spotsPerRow) + 0.5 - spotsPerRow / 2 + along) * step,
    ]
    const entryPlane = aimFrom(view, scene.planes, scene.path, x, y)
    if (entryPlane < 0) continue
    observeSpot(sums, scene, view, entryPlane, spots, spot)
    addToCells(
      cells,
      (spot % spotsPerRow) + 0.5 + across,
      Math.floor(spot / spotsPerRow) + 0.5 + along,
      at(spots.brightness, spot),
    )
  }
  for (let spot = 0; spot < spotsPerRow * spotsPerRow; spot++) addSpot(sums, spots, spot, spotsPerRow)
}

function observeSpot(
  sums: FaceUpSums,
  scene: ViewingSetup,
  { eye }: View,
  entryPlane: number,
  spots: SpotGrid,
  spot: number,
): void {
  const { path, planes, index, degrees } = scene
  trace(path, planes, entryPlane, index, CUT_OFF)
  let [brightness, fire, leak, brightest] = [0, 0, 0, 0]
  spots.pathHash[spot] = entryPlane
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy === 0) continue
    if (energy > brightest) {
      brightest = energy
      spots.pathHash[spot] = hashPath(path, hit)
    }
    const ring = ringOf(path, planes, hit, eye)
    if (ring < 0) {
      leak += energy
      continue
    }
    sums.rings[ring] = at(sums.rings, ring) + energy
    if (ring < HEAD_RINGS) continue
    brightness += energy * (ring < BRIGHT_RINGS ? 1 : SIDE_BRIGHTNESS)
    fire += energy * Math.max(0, angularDispersion(path, planes, hit, index) * degrees - BLUR_DEGREES)
  }
  spots.brightness[spot] = brightness
  spots.fire[spot] = fire
  sums.spotsByFacet[entryPlane] = at(sums.spotsByFacet, entryPlane) + 1
  sums.fireByFacet[entryPlane] = at(sums.fireByFacet, entryPlane) + fire
  sums.leakByFacet[entryPlane] = at(sums.leakByFacet, entryPlane) + leak
}

/** The ring from which the light of a hit comes; -1 if it comes from below or through the pavilion. */
function ringOf(path: LightPath, planes: PlaneSet, hit: number, eye: View['eye']): number {
  if (!isFromSky(path, planes, hit)) return -1
  const { outside } = path
  const cosine = at(outside, 3 * hit) * eye[0] + at(outside, 3 * hit + 1) * eye[1] + at(outside, 3 * hit + 2) * eye[2]
  if (cosine <= 0) return -1
  return Math.min(RINGS - 1, Math.floor((Math.acos(Math.min(1, cosine)) * 180) / Math.PI / RING))
}

function hashPath({ planes }: LightPath, hit: number): number {
  let hash = integerAt(planes, 0)
  for (let before = 1; before <= hit; before++) hash = (Math.imul(hash, 31) + integerAt(planes, before)) | 0
  return hash
}

/** Adds a spot, compared with its neighbours to the right and above. */
function addSpot(sums: FaceUpSums, { brightness, fire, pathHash }: SpotGrid, spot: number, spotsPerRow: number): void {
  const own = at(brightness, spot)
  if (Number.isNaN(own)) return
  let [neighbours, alike] = [0, 0]
  for (const other of [spot + 1, spot + spotsPerRow]) {
    const neighbourBrightness = other < brightness.length ? at(brightness, other) : NaN
    if (Number.isNaN(neighbourBrightness)) continue
    neighbours++
    if (integerAt(pathHash, other) === integerAt(pathHash, spot)) alike++
    sums.difference += Math.abs(own - neighbourBrightness)
  }
  sums.spots++
  sums.pairs += neighbours
  sums.brightness += own
  if (own >= MIN_LIT_BRIGHTNESS) sums.lit++
  // A flash as small as one spot (crushed ice) counts half as much as a larger one.
  if (neighbours > 0) sums.fire += (at(fire, spot) * (1 + alike / neighbours)) / 2
}

function directionVariety(rings: Float64Array): number {
  const all = rings.reduce((sum, ring) => sum + ring, 0)
  const entropy = rings.reduce((sum, ring) => (ring > 0 ? sum - (ring / all) * Math.log(ring / all) : sum), 0)
  return Math.exp(entropy)
}
