import { at, DX, DY, DZ, I, newRay, V, integerAt, type Ray } from '../light/optics.ts'
import { CROWN, FOLD, type PlaneSet } from '../light/planes.ts'
import { enterStone, reflectInside, crossMirrorPlane } from '../light/trace.ts'
import type { Vector } from '../solid/facet.ts'
import { columnOf, MAX_COORDINATE, rowOf, type VisibleFacet } from './frame.ts'
import { NextFacetFinder, type RayPositions } from './next-facet.ts'

/**
 * Rays of other refractive indices that follow the same path as a main ray but have their own directions. Three numbers per ray for the
 * direction inside; four where they leave: the direction outside, and 1, or 0 for total reflection.
 */
export class CompanionRays {
  readonly directions: Float64Array
  readonly outside: Float64Array

  constructor(private readonly indices: readonly number[]) {
    this.directions = new Float64Array(3 * indices.length)
    this.outside = new Float64Array(4 * indices.length)
  }

  /** Refracts them into the stone. @param ray the main ray, still outside */
  enter(ray: Ray, nx: number, ny: number, nz: number): void {
    const cosine = -(nx * at(ray, DX) + ny * at(ray, DY) + nz * at(ray, DZ))
    for (const [one, index] of this.indices.entries()) {
      const bend = cosine / index - Math.sqrt(1 - (1 - cosine * cosine) / (index * index))
      this.directions[3 * one] = at(ray, DX) / index + bend * nx
      this.directions[3 * one + 1] = at(ray, DY) / index + bend * ny
      this.directions[3 * one + 2] = at(ray, DZ) / index + bend * nz
    }
  }

  /** Computes the directions in which they leave at a plane. */
  leave(nx: number, ny: number, nz: number): void {
    const { directions, outside } = this
    for (let one = 0; one < this.indices.length; one++) {
      const index = this.indices[one] ?? 1
      const dx = at(directions, 3 * one)
      const dy = at(directions, 3 * one + 1)
      const dz = at(directions, 3 * one + 2)
      const cosine = nx * dx + ny * dy + nz * dz
      const square = 1 - index * index * (1 - cosine * cosine)
      outside[4 * one + 3] = square > 0 ? 1 : 0
      if (square <= 0) continue
      const bend = Math.sqrt(square) - index * cosine
      outside[4 * one] = index * dx + bend * nx
      outside[4 * one + 1] = index * dy + bend * ny
      outside[4 * one + 2] = index * dz + bend * nz
    }
  }

  reflect(nx: number, ny: number, nz: number): void {
    const { directions } = this
    for (let base = 0; base < directions.length; base += 3) {
      const twice = 2 * (nx * at(directions, base) + ny * at(directions, base + 1) + nz * at(directions, base + 2))
      directions[base] = at(directions, base) - twice * nx
      directions[base + 1] = at(directions, base + 1) - twice * ny
      directions[base + 2] = at(directions, base + 2) - twice * nz
    }
  }

  copy({ directions }: CompanionRays): void {
    for (let index = 0; index < directions.length; index++) this.directions[index] = at(directions, index)
  }
}

/** The light that a bundle has brought so far per screen colour, followed by values of the LightReceiver. */
export type BundleSums = Float64Array
const SUMS = 6

export type LightReceiver = {
  /** Light leaves through a plane in the ray's direction OX OY OZ; `beside`: its companions. */
  readonly addLight: (sums: BundleSums, ray: Ray, energy: number, isCrown: boolean, beside: CompanionRays) => void
  /** The bundle with the spots at these indices is complete; the ray has the remaining light. */
  readonly paintSpots: (sums: BundleSums, ray: Ray, spots: Int32Array, from: number, to: number) => void
  /** Called before each facet with the remaining light. */
  readonly onAttenuation: (sums: BundleSums, ray: Ray) => void
}

/** A ray is followed until `cutOff` of its light is left or it has met `mostHits` facets; the rest counts as trapped. */
export type TraceLimits = { readonly cutOff: number; readonly mostHits: number }

/** `index`: refractive index of the rays; `companionIndices`: those of the companions. */
export type RayBundleOptions = TraceLimits & { readonly index: number; readonly companionIndices: readonly number[] }

/** Light below this is not visible. */
const FAINT = 0.002

/** The state of a bundle. The bundles that it is split into use the next level. */
type BundleLevel = {
  readonly ray: Ray
  readonly places: RayPositions
  readonly sums: BundleSums
  readonly beside: CompanionRays
}

/**
 * Follows parallel eye rays through a stone. Rays that meet the same sequence of facets stay parallel and form a bundle: its direction and
 * light are computed once, and its positions are an affine function of the pixel. A bundle is split where its rays meet different facets.
 * Each pixel gets exactly what a separate ray would bring, at about a tenth of the cost.
 */
export class RayBundles {
  readonly #levels: BundleLevel[] = []
  readonly #next: NextFacetFinder
  readonly #places: Float64Array
  readonly #eye: Vector
  #spots: Int32Array = new Int32Array(0)
  /** For each spot the plane that it meets, and a buffer for sorting. */
  #met = new Int32Array(0)
  #sorted = new Int32Array(0)
  readonly #ends: Int32Array

  /** @param places positions of the pixels in the view of a distant eye */
  constructor(
    private readonly planes: PlaneSet,
    private readonly beam: RayBundleOptions,
    private readonly scene: LightReceiver,
    { places, eye }: { readonly places: RayPositions; readonly eye: Vector },
  ) {
    this.#next = new NextFacetFinder(planes)
    this.#ends = new Int32Array(planes.count + 1)
    this.#places = places
    this.#eye = eye
  }

  /** Follows the rays of all pixels that show a facet. Reorders its spots. */
  follow({ plane, spots, bounds: { left, right, top, bottom } }: VisibleFacet): void {
    if (spots.length > this.#met.length) {
      this.#met = new Int32Array(spots.length)
      this.#sorted = new Int32Array(spots.length)
    }
    this.#spots = spots
    const level = this.#level(0)
    const { ray, places, sums, beside } = level
    ray[DX] = -this.#eye[0]
    ray[DY] = -this.#eye[1]
    ray[DZ] = -this.#eye[2]
    places.set(this.#places)
    sums.fill(0)
    this.#advance(ray, places, plane)
    const { planes } = this.planes
    const nx = at(planes, 4 * plane)
    const ny = at(planes, 4 * plane + 1)
    const nz = at(planes, 4 * plane + 2)
    beside.enter(ray, nx, ny, nz)
    enterStone(ray, nx, ny, nz, this.beam.index)
    this.#follow(0, 1, plane, 0, spots.length, left, right, top, bottom)
  }

  #level(depth: number): BundleLevel {
    const level = this.#levels[depth]
    if (level !== undefined) return level
    const beside = new CompanionRays(this.beam.companionIndices)
    const added = { ray: newRay(), places: new Float64Array(9), sums: new Float64Array(SUMS), beside }
    this.#levels.push(added)
    return added
  }

  /** Follows a level's bundle with the spots at these indices and within these bounds, coming from a plane. */
  #follow(
    depth: number,
    before: number,
    from: number,
    first: number,
    end: number,
    left: number,
    right: number,
    top: number,
    bottom: number,
  ): void {
    const level = this.#level(depth)
    const { ray, places, sums } = level
    const isOne = end - first === 1
    let plane = from
    const { cutOff, mostHits } = this.beam
    for (let hits = before; hits < mostHits && at(ray, I) > cutOff; hits++) {
      this.scene.onAttenuation(sums, ray)
      let next = isOne
        ? this.#next.findForPixel(ray, places, plane, left, top)
        : this.#next.findForPixels(ray, places, plane, left, right, top, bottom)
      if (next < 0) break
      if (this.#next.rivalCount > 0) {
        next = this.#assignPlanes(next, first, end)
        if (next < 0) return this.#split(depth, hits, first, end)
      }
      this.#pass(level, next)
      plane = next
    }
    this.scene.paintSpots(sums, ray, this.#spots, first, end)
  }

  /** Advances the bundle to a plane and passes on the light that leaves there. */
  #pass({ ray, places, sums, beside }: BundleLevel, plane: number): void {
    const { planes, parts } = this.planes
    this.#advance(ray, places, plane)
    const nx = at(planes, 4 * plane)
    const ny = at(planes, 4 * plane + 1)
    const nz = at(planes, 4 * plane + 2)
    const part = integerAt(parts, plane)
    if (part === FOLD) {
      crossMirrorPlane(ray, nx, ny, nz)
    } else {
      const energy = reflectInside(ray, nx, ny, nz, this.beam.index)
      if (energy >= FAINT) {
        beside.leave(nx, ny, nz)
        this.scene.addLight(sums, ray, energy, part === CROWN, beside)
      }
    }
    beside.reflect(nx, ny, nz)
  }

  /** Moves all positions along the direction onto the plane. */
  #advance(ray: Ray, places: RayPositions, plane: number): void {
    const { planes } = this.planes
    const nx = at(planes, 4 * plane)
    const ny = at(planes, 4 * plane + 1)
    const nz = at(planes, 4 * plane + 2)
    const dx = at(ray, DX)
    const dy = at(ray, DY)
    const dz = at(ray, DZ)
    const slower = 1 / (nx * dx + ny * dy + nz * dz)
    for (let base = 0; base < 9; base += 3) {
      const offset = base === 0 ? at(planes, 4 * plane + 3) : 0
      const gap = offset - nx * at(places, base) - ny * at(places, base + 1) - nz * at(places, base + 2)
      const reach = gap * slower
      places[base] = at(places, base) + reach * dx
      places[base + 1] = at(places, base + 1) + reach * dy
      places[base + 2] = at(places, base + 2) + reach * dz
    }
  }

  /** Determines the plane that each spot meets. @returns the common plane, or -1 if there are several; the spots are then sorted by plane */
  #assignPlanes(middles: number, first: number, end: number): number {
    const spots = this.#spots
    const met = this.#met
    const ends = this.#ends
    const { rivalPlanes, lead, rivalCount } = this.#next
    ends.fill(0, 0, rivalCount + 1)
    for (let place = first; place < end; place++) {
      const column = columnOf(integerAt(spots, place))
      const row = rowOf(integerAt(spots, place))
      let least = 0
      let nearest = rivalCount
      for (let one = 0; one < rivalCount; one++) {
        const farther = at(lead, 3 * one) + column * at(lead, 3 * one + 1) + row * at(lead, 3 * one + 2)
        if (farther < least) {
          least = farther
          nearest = one
        }
      }
      met[place] = nearest
      ends[nearest] = integerAt(ends, nearest) + 1
    }
    rivalPlanes[rivalCount] = middles
    const only = integerAt(met, first)
    if (integerAt(ends, only) === end - first) return integerAt(rivalPlanes, only)
    this.#sort(first, end)
    return -1
  }

  #sort(first: number, end: number): void {
    const spots = this.#spots
    const met = this.#met
    const sorted = this.#sorted
    const ends = this.#ends
    const { rivalPlanes, rivalCount } = this.#next
    for (let one = 0, before = first; one <= rivalCount; one++) {
      const size = integerAt(ends, one)
      ends[one] = before
      before += size
    }
    for (let place = first; place < end; place++) {
      const one = integerAt(met, place)
      const to = integerAt(ends, one)
      sorted[to] = integerAt(spots, place)
      ends[one] = to + 1
    }
    for (let one = 0, place = first; one <= rivalCount; one++) {
      for (; place < integerAt(ends, one); place++) {
        met[place] = integerAt(rivalPlanes, one)
        spots[place] = integerAt(sorted, place)
      }
    }
  }

  #split(depth: number, hits: number, first: number, end: number): void {
    const spots = this.#spots
    const met = this.#met
    const own = this.#level(depth)
    const part = this.#level(depth + 1)
    for (let from = first, to = first; from < end; from = to) {
      const plane = integerAt(met, from)
      let left = MAX_COORDINATE
      let right = 0
      let top = MAX_COORDINATE
      let bottom = 0
      for (; to < end && integerAt(met, to) === plane; to++) {
        const column = columnOf(integerAt(spots, to))
        const row = rowOf(integerAt(spots, to))
        if (column < left) left = column
        if (column > right) right = column
        if (row < top) top = row
        if (row > bottom) bottom = row
      }
      copy(own, part)
      this.#pass(part, plane)
      this.#follow(depth + 1, hits + 1, plane, from, to, left, right, top, bottom)
    }
  }
}

/** Copies a ray up to its polarisation; its other values belong to the plane that it met. */
function copy(from: BundleLevel, to: BundleLevel): void {
  for (let index = 0; index <= V; index++) to.ray[index] = at(from.ray, index)
  for (let index = 0; index < 9; index++) to.places[index] = at(from.places, index)
  for (let index = 0; index < SUMS; index++) to.sums[index] = at(from.sums, index)
  to.beside.copy(from.beside)
}
