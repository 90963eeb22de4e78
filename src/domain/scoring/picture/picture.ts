import { lightings, type Light, type Lighting } from './lighting.ts'
import { at, whole } from '../light/numbers.ts'
import { CROWN, planesOf, type Planes } from '../light/planes.ts'
import type { Solid } from '../solid/solid.ts'
import { aim, newPath, trace, type Path } from '../light/trace.ts'

/** Rows from top to bottom, four bytes a pixel: red, green, blue, opacity. Transparent beside the stone. */
export type Picture = { readonly width: number; readonly height: number; readonly pixels: Uint8ClampedArray }

/** Where in a pixel its rays start, from its left upper corner. */
const RAYS = [
  [0.25, 0.25],
  [0.75, 0.75],
] as const
const CUT_OFF = 0.01
/** Light that is too little to be seen. */
const FAINT = 0.002
/** Empty part of the picture around the stone. */
const MARGIN = 1.04

/**
 * The stone from above, its length upright, as an eye far over the table sees it under a lighting. The same solid gives the
 * same picture.
 * @param size the longer side in pixels
 */
export function drawStone(solid: Solid, lighting: Lighting, size: number): Picture {
  const view = viewOf(solid, size)
  const pixels = new Uint8ClampedArray(4 * view.width * view.height)
  const colour = new Float64Array(4)
  for (let row = 0; row < view.height; row++) {
    for (let column = 0; column < view.width; column++) {
      colour.fill(0)
      for (const [right, down] of RAYS) {
        addRay(view, lighting, view.left + (column + right) * view.step, view.top - (row + down) * view.step, colour)
      }
      put(pixels, 4 * (row * view.width + column), colour)
    }
  }
  return { width: view.width, height: view.height, pixels }
}

type View = {
  readonly width: number
  readonly height: number
  readonly step: number
  readonly left: number
  readonly top: number
  readonly solid: Solid
  readonly planes: Planes
  readonly path: Path
}

function viewOf(solid: Solid, size: number): View {
  const ys = solid.faces.flatMap(({ corners }) => corners.map(([, y]) => y))
  const step = (MARGIN * Math.max(solid.width, solid.length)) / size
  const [width, height] = [Math.ceil((MARGIN * solid.width) / step), Math.ceil((MARGIN * solid.length) / step)]
  const middle = (Math.max(...ys) + Math.min(...ys)) / 2
  const [left, top] = [(-width * step) / 2, middle + (height * step) / 2]
  return { width, height, step, left, top, solid, planes: planesOf(solid), path: newPath() }
}

/** Adds what one ray brings to a pixel's colour, and one to the rays that met the stone. */
function addRay(view: View, lighting: Lighting, x: number, y: number, colour: Float64Array): void {
  const across = view.solid.halves === 2 ? Math.abs(x) : x
  const plane = entryOver(view.planes, across, y)
  if (plane < 0) return
  const height = heightOver(view.planes.planes, plane, across, y)
  for (const { index, channels, light } of lightings[lighting]) {
    aim(view.path, across, y, height, 0, 0, -1)
    trace(view.path, view.planes, plane, index, CUT_OFF)
    for (const channel of channels) colour[channel] = at(colour, channel) + seen(view, light, channel)
  }
  colour[3] = at(colour, 3) + 1
}

/** What a traced ray brings to one of the screen's colours. */
function seen({ path, planes }: View, light: Light, channel: number): number {
  let sum = 0
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy < FAINT) continue
    const isCrown = whole(planes.parts, whole(path.planes, hit)) === CROWN
    const base = 3 * hit
    sum +=
      energy * light(channel, isCrown, at(path.outside, base), at(path.outside, base + 1), at(path.outside, base + 2))
  }
  return sum
}

/** The plane of the crown, or of a wall that leans inwards, that a ray from above meets at a point; -1 beside the stone. */
function entryOver({ planes, pavilionFrom, girdleFrom, foldFrom }: Planes, x: number, y: number): number {
  let lowest = 0
  for (let plane = 1; plane < pavilionFrom; plane++) {
    if (heightOver(planes, plane, x, y) < heightOver(planes, lowest, x, y)) lowest = plane
  }
  for (let wall = girdleFrom; wall < foldFrom; wall++) {
    const rises = at(planes, 4 * wall + 2) > LEANS
    if (rises && heightOver(planes, wall, x, y) < heightOver(planes, lowest, x, y)) lowest = wall
  }
  const height = heightOver(planes, lowest, x, y)
  for (let wall = girdleFrom; wall < foldFrom; wall++) {
    if (wall !== lowest && gapOver(planes, wall, x, y, height) < 0) return -1
  }
  for (let plane = pavilionFrom; plane < girdleFrom; plane++) if (heightOver(planes, plane, x, y) >= height) return -1
  return lowest
}

/** A wall that leans less is upright but for rounding. */
const LEANS = 1e-6

const gapOver = (planes: Float64Array, plane: number, x: number, y: number, z: number): number =>
  at(planes, 4 * plane + 3) - at(planes, 4 * plane) * x - at(planes, 4 * plane + 1) * y - at(planes, 4 * plane + 2) * z

const heightOver = (planes: Float64Array, plane: number, x: number, y: number): number =>
  (at(planes, 4 * plane + 3) - at(planes, 4 * plane) * x - at(planes, 4 * plane + 1) * y) / at(planes, 4 * plane + 2)

function put(pixels: Uint8ClampedArray, base: number, colour: Float64Array): void {
  const rays = at(colour, 3)
  if (rays === 0) return
  for (let channel = 0; channel < 3; channel++) pixels[base + channel] = 255 * shown(at(colour, channel) / rays)
  pixels[base + 3] = (255 * rays) / RAYS.length
}

/** Light to a screen's value: bright spots run out softly, and the screen's gamma. */
const shown = (light: number): number =>
  light <= 0 ? 0 : Math.min(1, (light < 0.8 ? light : 1 - 0.2 * Math.exp(-(light - 0.8) / 0.2)) ** (1 / 2.2))
