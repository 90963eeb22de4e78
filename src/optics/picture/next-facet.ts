import { at } from '../light/typed-arrays.ts'
import { DX, DY, DZ, type Ray } from '../light/ray.ts'
import type { PlaneSet } from '../light/planes.ts'

/**
 * Positions of the rays of a bundle: an affine function of the pixel. Three numbers each for the origin of the pixel coordinates, for the
 * step per column and for the step per row.
 */
export type RayPositions = Float64Array

/** Larger than any stone. */
const FAR = 100

/** Indices in the data about the middle of a bundle: its position and direction. */
const X = 0
const Y = 1
const Z = 2
const TX = 3
const TY = 4
const TZ = 5
/** Gap and speed towards the facet that the middle meets; the distance is GAP / SPEED. */
const GAP = 6
const SPEED = 7
/** Change of that distance per column and per row. */
const BY_COLUMN = 8
const BY_ROW = 9
/** The longest distance that a ray of the bundle has to travel, and the largest distance of a ray from the middle. */
const MAX_DISTANCE = 10
const RADIUS = 11
/** Columns and rows from the middle to the edges of the bundle. */
const ACROSS = 12
const ALONG = 13

/**
 * Finds the facet that a bundle of parallel rays meets next, other than the one it comes from: the one that its middle meets, and the
 * rivals that some of its rays may meet before. Distances to planes are affine functions of the pixel, so a few numbers describe all rays.
 */
export class NextFacetFinder {
  /** Number of facets that some rays may meet before the one that the middle meets, and their planes. */
  rivalCount = 0
  readonly rivalPlanes: Int32Array
  /** How much farther (or nearer, if negative) each rival is: three numbers each, affine like RayPositions. */
  readonly rivalLeads: Float64Array
  readonly #gaps: Float64Array
  readonly #speeds: Float64Array
  readonly #middle = new Float64Array(14)

  constructor(private readonly planes: PlaneSet) {
    this.rivalPlanes = new Int32Array(planes.count)
    this.rivalLeads = new Float64Array(3 * planes.count)
    this.#gaps = new Float64Array(planes.count)
    this.#speeds = new Float64Array(planes.count)
  }

  /** @returns the plane that the ray of one pixel meets, -1 for none */
  findForPixel(ray: Ray, positions: RayPositions, from: number, column: number, row: number): number {
    this.#setMiddle(ray, positions, column, column, row, row)
    const { pavilionFrom, girdleFrom, foldFrom, count } = this.planes
    const rises = at(ray, DZ) > 0
    let nearest = foldFrom < girdleFrom ? this.#search(from, foldFrom, girdleFrom, -1) : -1
    nearest = rises ? this.#search(from, 0, pavilionFrom, nearest) : this.#search(from, pavilionFrom, foldFrom, nearest)
    const isWithin = this.#isWithin(positions)
    if (isWithin && this.#isClear(positions, rises)) return nearest
    nearest = rises ? this.#search(from, pavilionFrom, foldFrom, nearest) : this.#search(from, 0, pavilionFrom, nearest)
    return isWithin ? nearest : this.#search(from, girdleFrom, count, nearest)
  }

  /**
   * For the rays of a rectangle of pixels, given by its first and last column and row.
   * @returns the plane that its middle meets, -1 for none. All rays meet it if rivalCount is 0
   */
  findForPixels(
    ray: Ray,
    positions: RayPositions,
    from: number,
    left: number,
    right: number,
    top: number,
    bottom: number,
  ): number {
    this.#setMiddle(ray, positions, left, right, top, bottom)
    const { pavilionFrom, girdleFrom, foldFrom, count } = this.planes
    const rises = at(ray, DZ) > 0
    const first = rises ? 0 : pavilionFrom
    const end = rises ? pavilionFrom : foldFrom
    let nearest = foldFrom < girdleFrom ? this.#search(from, foldFrom, girdleFrom, -1) : -1
    nearest = this.#search(from, first, end, nearest)
    if (nearest >= 0) this.#setGradients(positions, nearest)
    // Within the inner ellipse a ray meets the plane, and every plane before it, before any girdle facet: these are no rivals.
    const isWithin = nearest >= 0 && this.#isWithin(positions)
    if (isWithin && this.#isClear(positions, rises)) {
      this.#findRivals(positions, nearest, from, foldFrom, girdleFrom)
      this.#findRivals(positions, nearest, from, first, end)
    } else {
      nearest = rises
        ? this.#search(from, pavilionFrom, foldFrom, nearest)
        : this.#search(from, 0, pavilionFrom, nearest)
      if (!isWithin) nearest = this.#search(from, girdleFrom, count, nearest)
      if (nearest < 0) return nearest
      this.#setGradients(positions, nearest)
      this.#findRivals(positions, nearest, from, 0, isWithin ? girdleFrom : count)
    }
    this.#moveLeadsToOrigin(left + right, top + bottom)
    return nearest
  }

  #setMiddle(ray: Ray, positions: RayPositions, left: number, right: number, top: number, bottom: number): void {
    const middle = this.#middle
    const column = (left + right) / 2
    const row = (top + bottom) / 2
    middle[X] = at(positions, 0) + column * at(positions, 3) + row * at(positions, 6)
    middle[Y] = at(positions, 1) + column * at(positions, 4) + row * at(positions, 7)
    middle[Z] = at(positions, 2) + column * at(positions, 5) + row * at(positions, 8)
    middle[TX] = at(ray, DX)
    middle[TY] = at(ray, DY)
    middle[TZ] = at(ray, DZ)
    middle[GAP] = FAR
    middle[SPEED] = 1
    middle[BY_COLUMN] = 0
    middle[BY_ROW] = 0
    middle[ACROSS] = (right - left) / 2
    middle[ALONG] = (bottom - top) / 2
    this.rivalCount = 0
  }

  /** Compares distances by cross-multiplication, which avoids divisions and mispredicted branches. Keeps gaps and speeds for rivals. */
  #search(from: number, first: number, end: number, nearest: number): number {
    const middle = this.#middle
    const { planes } = this.planes
    const gaps = this.#gaps
    const speeds = this.#speeds
    const x = at(middle, X)
    const y = at(middle, Y)
    const z = at(middle, Z)
    const dx = at(middle, TX)
    const dy = at(middle, TY)
    const dz = at(middle, TZ)
    let bestGap = at(middle, GAP)
    let bestSpeed = at(middle, SPEED)
    let best = nearest
    for (let plane = first; plane < end; plane++) {
      const base = 4 * plane
      const nx = at(planes, base)
      const ny = at(planes, base + 1)
      const nz = at(planes, base + 2)
      const speed = nx * dx + ny * dy + nz * dz
      const gap = at(planes, base + 3) - nx * x - ny * y - nz * z
      gaps[plane] = gap
      speeds[plane] = speed
      if (speed * bestGap > bestSpeed * gap && speed > 0 && plane !== from) {
        bestGap = gap
        bestSpeed = speed
        best = plane
      }
    }
    middle[GAP] = bestGap
    middle[SPEED] = bestSpeed
    return best
  }

  #setGradients(positions: RayPositions, nearest: number): void {
    const middle = this.#middle
    const across = at(middle, ACROSS)
    const along = at(middle, ALONG)
    const { planes } = this.planes
    const base = 4 * nearest
    const nx = at(planes, base)
    const ny = at(planes, base + 1)
    const nz = at(planes, base + 2)
    const px = at(positions, 3)
    const py = at(positions, 4)
    const pz = at(positions, 5)
    const qx = at(positions, 6)
    const qy = at(positions, 7)
    const qz = at(positions, 8)
    const factor = -1 / at(middle, SPEED)
    const byColumn = (nx * px + ny * py + nz * pz) * factor
    const byRow = (nx * qx + ny * qy + nz * qz) * factor
    middle[BY_COLUMN] = byColumn
    middle[BY_ROW] = byRow
    middle[MAX_DISTANCE] = -at(middle, GAP) * factor + across * Math.abs(byColumn) + along * Math.abs(byRow)
    middle[RADIUS] = across * Math.sqrt(px * px + py * py + pz * pz) + along * Math.sqrt(qx * qx + qy * qy + qz * qz)
  }

  /** Whether all rays meet the plane within the inner ellipse, where no girdle facet can be in front of it. */
  #isWithin(positions: RayPositions): boolean {
    const middle = this.#middle
    const across = at(middle, ACROSS)
    const along = at(middle, ALONG)
    const { inner } = this.planes
    const distance = at(middle, GAP) / at(middle, SPEED)
    const dx = at(middle, TX)
    const dy = at(middle, TY)
    const byColumn = at(middle, BY_COLUMN)
    const byRow = at(middle, BY_ROW)
    const x =
      Math.abs(at(middle, X) + distance * dx) +
      across * Math.abs(at(positions, 3) + byColumn * dx) +
      along * Math.abs(at(positions, 6) + byRow * dx)
    const y =
      Math.abs(at(middle, Y) + distance * dy - inner.middle) +
      across * Math.abs(at(positions, 4) + byColumn * dy) +
      along * Math.abs(at(positions, 7) + byRow * dy)
    return (x * x) / inner.across + (y * y) / inner.along < 1
  }

  /** Whether all rays meet a crown plane above the pavilion's highest point, or a pavilion plane below the crown's lowest point. */
  #isClear(positions: RayPositions, rises: boolean): boolean {
    const middle = this.#middle
    const across = at(middle, ACROSS)
    const along = at(middle, ALONG)
    const dz = at(middle, TZ)
    const z = at(middle, Z) + (at(middle, GAP) / at(middle, SPEED)) * dz
    const spread =
      across * Math.abs(at(positions, 5) + at(middle, BY_COLUMN) * dz) +
      along * Math.abs(at(positions, 8) + at(middle, BY_ROW) * dz)
    return rises ? z - spread > this.planes.pavilionTop : z + spread < this.planes.crownBottom
  }

  #findRivals(positions: RayPositions, nearest: number, from: number, first: number, end: number): void {
    const middle = this.#middle
    const across = at(middle, ACROSS)
    const along = at(middle, ALONG)
    const { planes } = this.planes
    const gaps = this.#gaps
    const speeds = this.#speeds
    const maxDistance = at(middle, MAX_DISTANCE)
    const radius = at(middle, RADIUS)
    for (let plane = first; plane < end; plane++) {
      const speed = at(speeds, plane)
      const gap = at(gaps, plane)
      // A cheap test first: no ray starts nearer to the plane than the middle by more than the radius.
      if (gap - radius >= maxDistance * speed || speed <= 0 || plane === nearest || plane === from) continue
      const base = 4 * plane
      const nx = at(planes, base)
      const ny = at(planes, base + 1)
      const nz = at(planes, base + 2)
      const byColumn =
        -(nx * at(positions, 3) + ny * at(positions, 4) + nz * at(positions, 5)) / speed - at(middle, BY_COLUMN)
      const byRow =
        -(nx * at(positions, 6) + ny * at(positions, 7) + nz * at(positions, 8)) / speed - at(middle, BY_ROW)
      const farther = gap / speed - at(middle, GAP) / at(middle, SPEED)
      if (farther >= across * Math.abs(byColumn) + along * Math.abs(byRow)) continue
      const index = 3 * this.rivalCount
      this.rivalPlanes[this.rivalCount++] = plane
      this.rivalLeads[index] = farther
      this.rivalLeads[index + 1] = byColumn
      this.rivalLeads[index + 2] = byRow
    }
  }

  /** Converts leads from the middle, where they were computed, to the origin of the pixel coordinates. */
  #moveLeadsToOrigin(twiceColumn: number, twiceRow: number): void {
    const column = twiceColumn / 2
    const row = twiceRow / 2
    for (let index = 0; index < 3 * this.rivalCount; index += 3) {
      this.rivalLeads[index] =
        at(this.rivalLeads, index) - column * at(this.rivalLeads, index + 1) - row * at(this.rivalLeads, index + 2)
    }
  }
}
