import type { Solid } from '../solid/solid.ts'
import { degrees, radians } from '../solid/facet.ts'
import { lightTracer, type LightTracer, type RayBatch } from './light-tracer.ts'
import { toPlaneSet } from './planes.ts'
import { at, integerAt } from './typed-arrays.ts'
import { boundsIn, SEQUENCE_STEPS_2D, viewFrom, type View } from './view.ts'

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

const MIN_LIT_BRIGHTNESS = 0.2
/** Remaining energy at which a ray is abandoned. With half of it, nine of ten cuts change by less than 0.001. */
export const FACE_UP_CUT_OFF = 0.02

type FaceUpOptions = {
  readonly index: number
  /** Refractive index at the F line minus that at the C line. */
  readonly dispersion: number
  /** Remaining energy at which a ray is abandoned. */
  readonly cutOff?: number
  /** Multiple of the usual number of grids. */
  readonly fineness?: number
}

/** Measures the face-up appearance from eight directions. */
export function measureFaceUp(
  solid: Solid,
  { index, dispersion, cutOff = FACE_UP_CUT_OFF, fineness = 1 }: FaceUpOptions,
  tracer: LightTracer = lightTracer,
): FaceUpMetrics {
  const planes = toPlaneSet(solid)
  tracer.setUp(planes, { index, cutOff, degrees: degrees(dispersion) })
  tracer.rings.fill(0)
  const spots = newSpots(gridOver(solid), tracer)
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
    addView(faceUp, tracer, solid, spots, eyeView, shifts)
    addView(tilted, tracer, solid, spots, tiltedView, shifts)
  }
  const mean = (figure: (sums: FaceUpSums) => number) => (figure(faceUp) + figure(tilted)) / 2
  const largest = faceUp.spotsByFacet.indexOf(Math.max(...faceUp.spotsByFacet))
  return {
    brightness: mean(({ brightness, spots }) => brightness / spots),
    contrast: mean(({ difference, pairs }) => difference / pairs),
    variety: directionVariety(tracer.rings),
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

/** Distance between spots in widths of the stone, and number of spots in a row and in a column. */
type Grid = { readonly step: number; readonly spotsPerRow: number }

function gridOver({ faceUpArea, width, length }: Solid): Grid {
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
  spotsByFacet: new Float64Array(facets),
  fireByFacet: new Float64Array(facets),
  leakByFacet: new Float64Array(facets),
})

/**
 * What is seen at the spots of a grid. Reused for one grid after the other, which saves a tenth of the time of a trace.
 * Spots outside the stone have brightness NaN. Neighbours with the same flash belong to it together.
 */
type Spots = {
  readonly grid: Grid
  readonly brightness: Float64Array
  readonly fire: Float64Array
  readonly flash: Int32Array
  /** The spot of each ray of a batch. */
  readonly ofRay: Int32Array
}

function newSpots(grid: Grid, { capacity }: LightTracer): Spots {
  const size = grid.spotsPerRow ** 2
  return {
    grid,
    brightness: new Float64Array(size),
    fire: new Float64Array(size),
    flash: new Int32Array(size),
    ofRay: new Int32Array(capacity),
  }
}

type Shift = readonly [across: number, along: number]

function addView(
  sums: FaceUpSums,
  tracer: LightTracer,
  solid: Solid,
  spots: Spots,
  view: View,
  shifts: readonly Shift[],
): void {
  const cells = createBrightnessGrid(SPOTS, spots.grid.spotsPerRow)
  const bounds = boundsIn(view, solid)
  for (const shift of shifts) {
    traceSpots(sums, tracer, spots, view, bounds, shift, cells)
    for (let spot = 0; spot < spots.brightness.length; spot++) addSpot(sums, spots, spot)
  }
  sums.evenness += evennessOf(cells)
}

/** Traces a ray through each spot of a grid. Adds what belongs to facets and cells; the rest is what neighbours are compared by. */
function traceSpots(
  sums: FaceUpSums,
  tracer: LightTracer,
  spots: Spots,
  view: View,
  { left, right, bottom, top }: ReturnType<typeof boundsIn>,
  [across, along]: Shift,
  cells: BrightnessGrid,
): void {
  const { rays, capacity } = tracer
  const { step, spotsPerRow } = spots.grid
  spots.brightness.fill(NaN)
  let count = 0
  const traceBatch = () => {
    tracer.trace(count)
    for (let ray = 0; ray < count; ray++) {
      const facet = integerAt(rays.entryPlane, ray)
      if (facet < 0) continue
      const spot = integerAt(spots.ofRay, ray)
      const brightness = rays.brightness[ray] ?? 0
      const fire = rays.fire[ray] ?? 0
      spots.brightness[spot] = brightness
      spots.fire[spot] = fire
      spots.flash[spot] = integerAt(rays.flash, ray)
      sums.spotsByFacet[facet] = at(sums.spotsByFacet, facet) + 1
      sums.fireByFacet[facet] = at(sums.fireByFacet, facet) + fire
      sums.leakByFacet[facet] = at(sums.leakByFacet, facet) + (rays.leak[ray] ?? 0)
      addToCells(cells, (spot % spotsPerRow) + 0.5 + across, Math.floor(spot / spotsPerRow) + 0.5 + along, brightness)
    }
    count = 0
  }
  for (let spot = 0; spot < spots.brightness.length; spot++) {
    const x = ((spot % spotsPerRow) + 0.5 - spotsPerRow / 2 + across) * step
    const y = (Math.floor(spot / spotsPerRow) + 0.5 - spotsPerRow / 2 + along) * step
    if (x < left || x > right || y < bottom || y > top) continue
    aimThrough(view, rays, count, x, y)
    spots.ofRay[count++] = spot
    if (count === capacity) traceBatch()
  }
  traceBatch()
}

/** Aims a ray of the batch from the eye through a point of the view. */
function aimThrough(view: View, rays: RayBatch, ray: number, across: number, along: number): void {
  const { eye, right, up, middle } = view
  rays.x[ray] = middle[0] + across * right[0] + along * up[0]
  rays.y[ray] = middle[1] + across * right[1] + along * up[1]
  rays.z[ray] = middle[2] + across * right[2] + along * up[2]
  rays.dx[ray] = -eye[0]
  rays.dy[ray] = -eye[1]
  rays.dz[ray] = -eye[2]
  rays.entryPlane[ray] = -1
}

/** Adds a spot, compared with its neighbours to the right and above. */
function addSpot(sums: FaceUpSums, { grid, brightness, fire, flash }: Spots, spot: number): void {
  const own = at(brightness, spot)
  if (Number.isNaN(own)) return
  let [neighbours, alike] = [0, 0]
  for (const other of [spot + 1, spot + grid.spotsPerRow]) {
    const neighbourBrightness = other < brightness.length ? at(brightness, other) : NaN
    if (Number.isNaN(neighbourBrightness)) continue
    neighbours++
    if (integerAt(flash, other) === integerAt(flash, spot)) alike++
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
