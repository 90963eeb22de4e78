import type { Solid } from '../solid/solid.ts'
import { radians } from '../solid/facet.ts'
import { at, integerAt } from './optics.ts'
import { toPlaneSet, type PlaneSet } from './planes.ts'
import { aimFrom, SEQUENCE_STEPS_2D, viewFrom, type View } from './view.ts'
import { isFromSky, newPath, trace, type LightPath } from './trace.ts'

/**
 * How fast the direction in which light reaches the eye turns with the refractive index, in radians per unit of index, for
 * light that comes in where the path left the stone at `hit`: times an index difference, the angle between two colours.
 * Refraction at both ends depends on the index, the reflections between only carry the difference on.
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
  return leaving(path, planes, index, x, y, z)
}

/** The last refraction: how fast the direction outside turns when the one inside turns by (x y z). */
function leaving(path: LightPath, planes: Float64Array, index: number, x: number, y: number, z: number): number {
  const base = 4 * integerAt(path.planes, 0)
  const nx = at(planes, base)
  const ny = at(planes, base + 1)
  const nz = at(planes, base + 2)
  const ux = at(path.inside, 3)
  const uy = at(path.inside, 4)
  const uz = at(path.inside, 5)
  const cosine = ux * nx + uy * ny + uz * nz
  const turn = x * nx + y * ny + z * nz
  const tx = ux - cosine * nx
  const ty = uy - cosine * ny
  const tz = uz - cosine * nz
  const wx = tx + index * (x - turn * nx)
  const wy = ty + index * (y - turn * ny)
  const wz = tz + index * (z - turn * nz)
  const outside = 1 - index * index * (1 - cosine * cosine)
  const across = index * (tx * wx + ty * wy + tz * wz)
  return Math.sqrt(wx * wx + wy * wy + wz * wz + (across * across) / outside)
}

/** A face in square cells, each as wide as a seventh of a round of the stone's area. */
export type BrightnessGrid = {
  /** Cells across. */
  readonly row: number
  /** Spots across a cell. */
  readonly size: number
  readonly light: Float64Array
  readonly spots: Float64Array
}

const ACROSS = 7
const DARKEST = 1 / 5

/**
 * @param spots across a round of the stone's area
 * @param row spots across the picture, which holds the whole stone
 */
export function createBrightnessGrid(spots: number, row: number): BrightnessGrid {
  const size = spots / ACROSS
  const cells = Math.ceil((row + 1) / size)
  return { row: cells, size, light: new Float64Array(cells * cells), spots: new Float64Array(cells * cells) }
}

/** Adds a spot: so many spots from the left, so many from below. */
export function addToCells(
  { row, size, light, spots }: BrightnessGrid,
  x: number,
  y: number,
  brightness: number,
): void {
  const cell = Math.floor(y / size) * row + Math.floor(x / size)
  light[cell] = at(light, cell) + brightness
  spots[cell] = at(spots, cell) + 1
}

/** How bright the darkest fifth of the cells is, over all of them; cells that show less than half a cell of stone do not count. */
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

/** What two eyes see of a stone that is held face up and rocked; all but fire without a unit. */
export type FaceUpMetrics = {
  /** Mean brightness of the face. */
  readonly brightness: number
  /** Mean difference of brightness between neighbouring spots. */
  readonly contrast: number
  /** From how many of the sky's rings, five degrees wide, the light comes: the exponential of its entropy over them. */
  readonly variety: number
  /** The part of the face that stays lit when the stone is tilted. */
  readonly lit: number
  /** How bright the darkest fifth of the face is, over the whole face: little where a ring, a bow tie or the middle is dark. */
  readonly evenness: number
  /** The part of the face that is not seen through its largest facet, which is the table of most shapes. */
  readonly frame: number
  /** Through the largest facet: the angle between F and C light over what an eye blurs, times its energy; degrees. */
  readonly tableFire: number
  /** Through the largest facet: the part of what an eye sees that comes from below the stone. */
  readonly tableLeak: number
  /** Angle between F and C light over what an eye blurs, times its energy, more of large flashes than of small ones; degrees. */
  readonly fire: number
}

/**
 * Compares how two stones look face up to two eyes: 1 where a stone lacks nothing that the reference has. The result is a product, so a stone that
 * is dull in one way is dull, whatever else it has.
 *
 * Brightness, evenness, lit, frame, fire through the table and leakage under it lower the result as far as a stone has less than the reference; more
 * of them adds nothing. Contrast and variety count both ways. Brightness has the power of a third because twice the light does not look twice as bright
 * (S. S. Stevens, Science 133, 1961: exponents of 0.33 to 0.5). The other powers bring rounds nearest to the GIA's grades on three of its charts
 * (docs/decisions/0091).
 * @param styleFrame the frame that a stone of its style has with the largest table that is published as its best: less lowers the result
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

/** The part of the result that a table without any fire costs: it looks like glass, but it is not black. */
const TABLE_FIRE_SHARE = 0.4

/** The reference is among the best: no stone looks better than it by more than a score is rounded to. */
const MAX_RESULT = 1.01

/** Degrees between the zenith and each of two eyes, which are 63 mm apart at 30 cm, and a stone that is tilted. */
const EYES = 6
const TILTED = 15
/** Degrees about the zenith in which eyes stand, off the planes in which facets mirror each other. */
const TURNS = [7, 97, 187, 277]
/** Of a tilted stone they stand between those. */
const BETWEEN = 45

/** Spots across a round of the stone's area: 0.23 mm apart on one carat. Less than that is no flash for an eye at 30 cm. */
const SPOTS = 28
/** Each view is looked at this often, by grids of spots that lie between each other's. */
const GRIDS = 4

/**
 * The sky about the eye, by the zones of the angular spectrum evaluation tool: the viewer's head hides 15 degrees, the 30 below are bright,
 * the rest is half as bright.
 */
const RING = 5
const RINGS = 90 / RING
const HEAD_RINGS = 15 / RING
const BRIGHT_RINGS = 45 / RING
const SIDE = 0.5
/** A spot that is less bright is dark. */
const DARK = 0.2
/**
 * Degrees between F and C light that an eye blurs: all visible light spreads 2.1 times as far, and has to spread over a pupil of 3 mm at
 * 40 cm (0.43°) and the lamp (0.1°).
 */
const BLURRED = 0.25
const CUT_OFF = 0.01

/**
 * Looks at a stone from eight sides.
 * @param dispersion the index for F light less that for C light
 * @param fineness times the usual number of spots
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
  const near = newSums(planes.count)
  const tilted = newSums(planes.count)
  const shifts = Array.from(
    { length: GRIDS * fineness },
    (_, grid) => [fraction(grid * SEQUENCE_STEPS_2D[0]), fraction(grid * SEQUENCE_STEPS_2D[1])] as const,
  )
  for (const turn of TURNS) {
    const eye = viewFrom(planes, radians(EYES), radians(turn))
    const tilt = viewFrom(planes, radians(TILTED), radians(turn + BETWEEN))
    add(near, scene, eye, shifts)
    add(tilted, scene, tilt, shifts)
  }
  const mean = (of: (sums: FaceUpSums) => number) => (of(near) + of(tilted)) / 2
  const largest = near.through.indexOf(Math.max(...near.through))
  return {
    brightness: mean(({ brightness, spots }) => brightness / spots),
    contrast: mean(({ difference, pairs }) => difference / pairs),
    variety: directionVariety(near.rings.map((ring, index) => ring + at(tilted.rings, index))),
    lit: tilted.lit / tilted.spots,
    evenness: mean(({ evenness }) => evenness / TURNS.length),
    frame: 1 - at(near.through, largest) / near.spots,
    tableFire: mean(({ fireThrough, through }) => at(fireThrough, largest) / Math.max(1, at(through, largest))),
    tableLeak: mean(({ leakThrough, through }) => at(leakThrough, largest) / Math.max(1, at(through, largest))),
    fire: mean(({ fire, spots }) => fire / spots),
  }
}

/** From -0.5 to 0.5. */
const fraction = (value: number): number => value - Math.round(value)

type ViewingSetup = {
  readonly planes: PlaneSet
  readonly path: LightPath
  readonly index: number
  /** Degrees between F and C light for a turn of one radian per unit of index. */
  readonly degrees: number
  /** Between spots, in the stone's widths, and how many of them a row has. */
  readonly step: number
  readonly row: number
}

function spotsOf({ faceUpArea, width, length }: Solid): Pick<ViewingSetup, 'step' | 'row'> {
  const step = Math.sqrt((4 * faceUpArea) / Math.PI) / SPOTS
  return { step, row: Math.ceil((1.1 * Math.max(width, length)) / step) }
}

/** What all spots of some views bring together. */
type FaceUpSums = {
  spots: number
  pairs: number
  brightness: number
  difference: number
  lit: number
  fire: number
  evenness: number
  /** Light by how far from the eye it comes, from ring to ring. */
  readonly rings: Float64Array
  /** By the facet through which they are seen: spots, and their fire and light from below. */
  readonly through: Float64Array
  readonly fireThrough: Float64Array
  readonly leakThrough: Float64Array
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
  through: new Float64Array(facets),
  fireThrough: new Float64Array(facets),
  leakThrough: new Float64Array(facets),
})

/** One spot: NaN for its brightness beside the stone. Two spots with the same way show the same flash. */
type SpotGrid = { readonly brightness: Float64Array; readonly fire: Float64Array; readonly pathHash: Int32Array }

function add(sums: FaceUpSums, scene: ViewingSetup, view: View, shifts: readonly (readonly [number, number])[]): void {
  const cells = createBrightnessGrid(SPOTS, scene.row)
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
  const { row, step } = scene
  const spots: SpotGrid = {
    brightness: new Float64Array(row * row).fill(NaN),
    fire: new Float64Array(row * row),
    pathHash: new Int32Array(row * row),
  }
  for (let spot = 0; spot < row * row; spot++) {
    const [x, y] = [
      ((spot % row) + 0.5 - row / 2 + across) * step,
      (Math.floor(spot / row) + 0.5 - row / 2 + along) * step,
    ]
    const first = aimFrom(view, scene.planes, scene.path, x, y)
    if (first < 0) continue
    observeSpot(sums, scene, view, first, spots, spot)
    addToCells(cells, (spot % row) + 0.5 + across, Math.floor(spot / row) + 0.5 + along, at(spots.brightness, spot))
  }
  for (let spot = 0; spot < row * row; spot++) compare(sums, spots, spot, row)
}

function observeSpot(
  sums: FaceUpSums,
  scene: ViewingSetup,
  { eye }: View,
  first: number,
  spots: SpotGrid,
  spot: number,
): void {
  const { path, planes, index, degrees } = scene
  trace(path, planes, first, index, CUT_OFF)
  let [brightness, fire, leak, brightest] = [0, 0, 0, 0]
  spots.pathHash[spot] = first
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
    brightness += energy * (ring < BRIGHT_RINGS ? 1 : SIDE)
    fire += energy * Math.max(0, angularDispersion(path, planes, hit, index) * degrees - BLURRED)
  }
  spots.brightness[spot] = brightness
  spots.fire[spot] = fire
  sums.through[first] = at(sums.through, first) + 1
  sums.fireThrough[first] = at(sums.fireThrough, first) + fire
  sums.leakThrough[first] = at(sums.leakThrough, first) + leak
}

/** How far from the eye light comes that leaves at a hit; -1 for what comes from under the stone or through its pavilion. */
function ringOf(path: LightPath, planes: PlaneSet, hit: number, eye: View['eye']): number {
  if (!isFromSky(path, planes, hit)) return -1
  const { outside } = path
  const cosine = at(outside, 3 * hit) * eye[0] + at(outside, 3 * hit + 1) * eye[1] + at(outside, 3 * hit + 2) * eye[2]
  if (cosine <= 0) return -1
  return Math.min(RINGS - 1, Math.floor((Math.acos(Math.min(1, cosine)) * 180) / Math.PI / RING))
}

/** A number for the planes that a path met up to a hit. */
function hashPath({ planes }: LightPath, hit: number): number {
  let way = integerAt(planes, 0)
  for (let before = 1; before <= hit; before++) way = (Math.imul(way, 31) + integerAt(planes, before)) | 0
  return way
}

/** Adds a spot, beside its neighbours to the right and above. */
function compare(sums: FaceUpSums, { brightness, fire, pathHash }: SpotGrid, spot: number, row: number): void {
  const own = at(brightness, spot)
  if (Number.isNaN(own)) return
  let [neighbours, alike] = [0, 0]
  for (const other of [spot + 1, spot + row]) {
    const beside = other < brightness.length ? at(brightness, other) : NaN
    if (Number.isNaN(beside)) continue
    neighbours++
    if (integerAt(pathHash, other) === integerAt(pathHash, spot)) alike++
    sums.difference += Math.abs(own - beside)
  }
  sums.spots++
  sums.pairs += neighbours
  sums.brightness += own
  if (own >= DARK) sums.lit++
  // Crushed ice: a flash as small as a spot counts half as much as one that its neighbours show too.
  if (neighbours > 0) sums.fire += (at(fire, spot) * (1 + alike / neighbours)) / 2
}

function directionVariety(rings: Float64Array): number {
  const all = rings.reduce((sum, ring) => sum + ring, 0)
  const entropy = rings.reduce((sum, ring) => (ring > 0 ? sum - (ring / all) * Math.log(ring / all) : sum), 0)
  return Math.exp(entropy)
}
