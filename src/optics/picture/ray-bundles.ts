import { at, integerAt } from '../light/typed-arrays.ts'
import { DX, DY, DZ, I, newRay, V, type Ray } from '../light/ray.ts'
import { CROWN, FOLD, type PlaneSet } from '../light/planes.ts'
import { enterStone, reflectInside, crossMirrorPlane } from '../light/fresnel.ts'
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
    for (const [companion, index] of this.indices.entries()) {
      const bend = cosine / index - Math.sqrt(1 - (1 - cosine * cosine) / (index * index))
      this.directions[3 * companion] = at(ray, DX) / index + bend * nx
      this.directions[3 * companion + 1] = at(ray, DY) / index + bend * ny
      this.directions[3 * companion + 2] = at(ray, DZ) / index + bend * nz
    }
  }

  /** Computes the directions in which they leave at a plane. */
  leave(nx: number, ny: number, nz: number): void {
    const { directions, outside } = this
    for (let companion = 0; companion < this.indices.length; companion++) {
      const index = this.indices[companion] ?? 1
      const dx = at(directions, 3 * companion)
      const dy = at(directions, 3 * companion + 1)
      const dz = at(directions, 3 * companion + 2)
      const cosine = nx * dx + ny * dy + nz * dz
      const square = 1 - index * index * (1 - cosine * cosine)
      outside[4 * companion + 3] = square > 0 ? 1 : 0
      if (square <= 0) continue
      const bend = Math.sqrt(square) - index * cosine
      outside[4 * companion] = index * dx + bend * nx
      outside[4 * companion + 1] = index * dy + bend * ny
      outside[4 * companion + 2] = index * dz + bend * nz
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
const SUM_COUNT = 6

export type LightReceiver = {
  /** Light leaves through a plane in the ray's direction OX OY OZ; `companionRays`: its companions. */
  readonly addLight: (
    sums: BundleSums,
    ray: Ray,
    energy: number,
    isCrown: boolean,
    companionRays: CompanionRays,
  ) => void
  /** The bundle with the spots at these indices is complete; the ray has the remaining light. */
  readonly paintSpots: (sums: BundleSums, ray: Ray, spots: Int32Array, from: number, to: number) => void
  /** Called before each facet with the remaining light. */
  readonly onAttenuation: (sums: BundleSums, ray: Ray) => void
}

/** A ray is followed until `cutOff` of its light is left or it has met `maxHits` facets; the rest counts as trapped. */
export type TraceLimits = { readonly cutOff: number; readonly maxHits: number }

/** `index`: refractive index of the rays; `companionIndices`: those of the companions. */
type RayBundleOptions = TraceLimits & { readonly index: number; readonly companionIndices: readonly number[] }

/** Light below this is not visible. */
const FAINT = 0.002

/** The state of a bundle. The bundles that it is split into use the next level. */
type BundleLevel = {
  readonly ray: Ray
  readonly positions: RayPositions
  readonly sums: BundleSums
  readonly companionRays: CompanionRays
}

/**
 * Follows parallel eye rays through a stone. Rays that meet the same sequence of facets stay parallel and form a bundle: its direction and
 * light are computed once, and its positions are an affine function of the pixel. A bundle is split where its rays meet different facets.
 * Each pixel gets exactly what a separate ray would bring, at about a tenth of the cost.
 */
export class RayBundles {
  readonly #levels: BundleLevel[] = []
  readonly #finder: NextFacetFinder
  readonly #positions: Float64Array
  readonly #eye: Vector
  #spots: Int32Array = new Int32Array(0)
  /** For each spot the plane that it meets, and a buffer for sorting. */
  #spotPlanes = new Int32Array(0)
  #sorted = new Int32Array(0)
  readonly #ends: Int32Array

  /** @param positions positions of the pixels in the view of a distant eye */
  constructor(
    private readonly planes: PlaneSet,
    private readonly options: RayBundleOptions,
    private readonly receiver: LightReceiver,
    { positions, eye }: { readonly positions: RayPositions; readonly eye: Vector },
  ) {
    this.#finder = new NextFacetFinder(planes)
    this.#ends = new Int32Array(planes.count + 1)
    this.#positions = positions
    this.#eye = eye
  }

  /** Follows the rays of all pixels that show a facet. Reorders its spots. */
  follow({ plane, spots, bounds: { left, right, top, bottom } }: VisibleFacet): void {
    if (spots.length > this.#spotPlanes.length) {
      this.#spotPlanes = new Int32Array(spots.length)
      this.#sorted = new Int32Array(spots.length)
    }
    this.#spots = spots
    const level = this.#level(0)
    const { ray, positions, sums, companionRays } = level
    ray[DX] = -this.#eye[0]
    ray[DY] = -this.#eye[1]
    ray[DZ] = -this.#eye[2]
    positions.set(this.#positions)
    sums.fill(0)
    this.#advance(ray, positions, plane)
    const { planes } = this.planes
    const nx = at(planes, 4 * plane)
    const ny = at(planes, 4 * plane + 1)
    const nz = at(planes, 4 * plane + 2)
    companionRays.enter(ray, nx, ny, nz)
    enterStone(ray, nx, ny, nz, this.options.index)
    this.#follow(0, 1, plane, 0, spots.length, left, right, top, bottom)
  }

  #level(depth: number): BundleLevel {
    const level = this.#levels[depth]
    if (level !== undefined) return level
    const companionRays = new CompanionRays(this.options.companionIndices)
    const newLevel = {
      ray: newRay(),
      positions: new Float64Array(9),
      sums: new Float64Array(SUM_COUNT),
      companionRays,
    }
    this.#levels.push(newLevel)
    return newLevel
  }

  /** Follows a level's bundle with the spots at these indices and within these bounds, coming from a plane. */
  #follow(
    depth: number,
    hitsBefore: number,
    from: number,
    first: number,
    end: number,
    left: number,
    right: number,
    top: number,
    bottom: number,
  ): void {
    const level = this.#level(depth)
    const { ray, positions, sums } = level
    const isSinglePixel = end - first === 1
    let plane = from
    const { cutOff, maxHits } = this.options
    for (let hits = hitsBefore; hits < maxHits && at(ray, I) > cutOff; hits++) {
      this.receiver.onAttenuation(sums, ray)
      let next = isSinglePixel
        ? this.#finder.findForPixel(ray, positions, plane, left, top)
        : this.#finder.findForPixels(ray, positions, plane, left, right, top, bottom)
      if (next < 0) break
      if (this.#finder.rivalCount > 0) {
        next = this.#assignPlanes(next, first, end)
        if (next < 0) return this.#split(depth, hits, first, end)
      }
      this.#passPlane(level, next)
      plane = next
    }
    this.receiver.paintSpots(sums, ray, this.#spots, first, end)
  }

  /** Advances the bundle to a plane and passes on the light that leaves there. */
  #passPlane({ ray, positions, sums, companionRays }: BundleLevel, plane: number): void {
    const { planes, parts } = this.planes
    this.#advance(ray, positions, plane)
    const nx = at(planes, 4 * plane)
    const ny = at(planes, 4 * plane + 1)
    const nz = at(planes, 4 * plane + 2)
    const part = integerAt(parts, plane)
    if (part === FOLD) {
      crossMirrorPlane(ray, nx, ny, nz)
    } else {
      const energy = reflectInside(ray, nx, ny, nz, this.options.index)
      if (energy >= FAINT) {
        companionRays.leave(nx, ny, nz)
        this.receiver.addLight(sums, ray, energy, part === CROWN, companionRays)
      }
    }
    companionRays.reflect(nx, ny, nz)
  }

  /** Moves all positions along the direction onto the plane. */
  #advance(ray: Ray, positions: RayPositions, plane: number): void {
    const { planes } = this.planes
    const nx = at(planes, 4 * plane)
    const ny = at(planes, 4 * plane + 1)
    const nz = at(planes, 4 * plane + 2)
    const dx = at(ray, DX)
    const dy = at(ray, DY)
    const dz = at(ray, DZ)
    const inverseSpeed = 1 / (nx * dx + ny * dy + nz * dz)
    for (let base = 0; base < 9; base += 3) {
      const offset = base === 0 ? at(planes, 4 * plane + 3) : 0
      const gap = offset - nx * at(positions, base) - ny * at(positions, base + 1) - nz * at(positions, base + 2)
      const distance = gap * inverseSpeed
      positions[base] = at(positions, base) + distance * dx
      positions[base + 1] = at(positions, base + 1) + distance * dy
      positions[base + 2] = at(positions, base + 2) + distance * dz
    }
  }

  /** Determines the plane that each spot meets. @returns the common plane, or -1 if there are several; the spots are then sorted by plane */
  #assignPlanes(middlePlane: number, first: number, end: number): number {
    const spots = this.#spots
    const spotPlanes = this.#spotPlanes
    const ends = this.#ends
    const { rivalPlanes, rivalLeads, rivalCount } = this.#finder
    ends.fill(0, 0, rivalCount + 1)
    for (let index = first; index < end; index++) {
      const column = columnOf(integerAt(spots, index))
      const row = rowOf(integerAt(spots, index))
      let leastLead = 0
      let nearest = rivalCount
      for (let rival = 0; rival < rivalCount; rival++) {
        const farther =
          at(rivalLeads, 3 * rival) + column * at(rivalLeads, 3 * rival + 1) + row * at(rivalLeads, 3 * rival + 2)
        if (farther < leastLead) {
          leastLead = farther
          nearest = rival
        }
      }
      spotPlanes[index] = nearest
      ends[nearest] = integerAt(ends, nearest) + 1
    }
    rivalPlanes[rivalCount] = middlePlane
    const firstRival = integerAt(spotPlanes, first)
    if (integerAt(ends, firstRival) === end - first) return integerAt(rivalPlanes, firstRival)
    this.#sort(first, end)
    return -1
  }

  #sort(first: number, end: number): void {
    const spots = this.#spots
    const spotPlanes = this.#spotPlanes
    const sorted = this.#sorted
    const ends = this.#ends
    const { rivalPlanes, rivalCount } = this.#finder
    for (let rival = 0, start = first; rival <= rivalCount; rival++) {
      const size = integerAt(ends, rival)
      ends[rival] = start
      start += size
    }
    for (let index = first; index < end; index++) {
      const rival = integerAt(spotPlanes, index)
      const to = integerAt(ends, rival)
      sorted[to] = integerAt(spots, index)
      ends[rival] = to + 1
    }
    for (let rival = 0, index = first; rival <= rivalCount; rival++) {
      for (; index < integerAt(ends, rival); index++) {
        spotPlanes[index] = integerAt(rivalPlanes, rival)
        spots[index] = integerAt(sorted, index)
      }
    }
  }

  #split(depth: number, hits: number, first: number, end: number): void {
    const spots = this.#spots
    const spotPlanes = this.#spotPlanes
    const parent = this.#level(depth)
    const child = this.#level(depth + 1)
    for (let from = first, to = first; from < end; from = to) {
      const plane = integerAt(spotPlanes, from)
      let left = MAX_COORDINATE
      let right = 0
      let top = MAX_COORDINATE
      let bottom = 0
      for (; to < end && integerAt(spotPlanes, to) === plane; to++) {
        const column = columnOf(integerAt(spots, to))
        const row = rowOf(integerAt(spots, to))
        if (column < left) left = column
        if (column > right) right = column
        if (row < top) top = row
        if (row > bottom) bottom = row
      }
      copy(parent, child)
      this.#passPlane(child, plane)
      this.#follow(depth + 1, hits + 1, plane, from, to, left, right, top, bottom)
    }
  }
}

/** Copies a ray up to its polarisation; its other values belong to the plane that it met. */
function copy(from: BundleLevel, to: BundleLevel): void {
  for (let index = 0; index <= V; index++) to.ray[index] = at(from.ray, index)
  for (let index = 0; index < 9; index++) to.positions[index] = at(from.positions, index)
  for (let index = 0; index < SUM_COUNT; index++) to.sums[index] = at(from.sums, index)
  to.companionRays.copy(from.companionRays)
}
