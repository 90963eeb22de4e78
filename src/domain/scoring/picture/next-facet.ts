import { at, DX, DY, DZ, type Ray } from '../light/optics.ts'
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
const MOST = 10
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
  readonly lead: Float64Array
  readonly #gaps: Float64Array
  readonly #speeds: Float64Array
  readonly #middle = new Float64Array(14)

  constructor(private readonly planes: PlaneSet) {
    this.rivalPlanes = new Int32Array(planes.count)
    this.lead = new Float64Array(3 * planes.count)
    this.#gaps = new Float64Array(planes.count)
    this.#speeds = new Float64Array(planes.count)
  }

  /** @returns the plane that the ray of one pixel meets, -1 for none */
  findForPixel(ray: Ray, places: RayPositions, from: number, column: number, row: number): number {
    this.#look(ray, places, column, column, row, row)
    const { pavilionFrom, girdleFrom, foldFrom, count } = this.planes
    const rises = at(ray, DZ) > 0
    let met = foldFrom < count ? this.#search(from, foldFrom, count, -1) : -1
    met = rises ? this.#search(from, 0, pavilionFrom, met) : this.#search(from, pavilionFrom, girdleFrom, met)
    const isWithin = this.#isWithin(places)
    if (isWithin && this.#isClear(places, rises)) return met
    met = rises ? this.#search(from, pavilionFrom, girdleFrom, met) : this.#search(from, 0, pavilionFrom, met)
    return isWithin ? met : this.#search(from, girdleFrom, foldFrom, met)
  }

  /**
   * For the rays of a rectangle of pixels, given by its first and last column and row.
   * @returns the plane that its middle meets, -1 for none. All rays meet it if rivalCount is 0
   */
  findForPixels(
    ray: Ray,
    places: RayPositions,
    from: number,
    left: number,
    right: number,
    top: number,
    bottom: number,
  ): number {
    this.#look(ray, places, left, right, top, bottom)
    const { pavilionFrom, girdleFrom, foldFrom, count } = this.planes
    const rises = at(ray, DZ) > 0
    const first = rises ? 0 : pavilionFrom
    const end = rises ? pavilionFrom : girdleFrom
    let met = foldFrom < count ? this.#search(from, foldFrom, count, -1) : -1
    met = this.#search(from, first, end, met)
    if (met >= 0) this.#lean(places, met)
    // Within the inner ellipse a ray meets the plane, and every plane before it, before any girdle facet: these are no rivals.
    const isWithin = met >= 0 && this.#isWithin(places)
    if (isWithin && this.#isClear(places, rises)) {
      this.#findRivals(places, met, from, foldFrom, count)
      this.#findRivals(places, met, from, first, end)
    } else {
      met = rises ? this.#search(from, pavilionFrom, girdleFrom, met) : this.#search(from, 0, pavilionFrom, met)
      if (!isWithin) met = this.#search(from, girdleFrom, foldFrom, met)
      if (met < 0) return met
      this.#lean(places, met)
      this.#findRivals(places, met, from, 0, isWithin ? girdleFrom : foldFrom)
      this.#findRivals(places, met, from, foldFrom, count)
    }
    this.#relate(left + right, top + bottom)
    return met
  }

  #look(ray: Ray, places: RayPositions, left: number, right: number, top: number, bottom: number): void {
    const middle = this.#middle
    const column = (left + right) / 2
    const row = (top + bottom) / 2
    middle[X] = at(places, 0) + column * at(places, 3) + row * at(places, 6)
    middle[Y] = at(places, 1) + column * at(places, 4) + row * at(places, 7)
    middle[Z] = at(places, 2) + column * at(places, 5) + row * at(places, 8)
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
  #search(from: number, first: number, end: number, met: number): number {
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
    let best = met
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

  #lean(places: RayPositions, met: number): void {
    const middle = this.#middle
    const across = at(middle, ACROSS)
    const along = at(middle, ALONG)
    const { planes } = this.planes
    const base = 4 * met
    const nx = at(planes, base)
    const ny = at(planes, base + 1)
    const nz = at(planes, base + 2)
    const px = at(places, 3)
    const py = at(places, 4)
    const pz = at(places, 5)
    const qx = at(places, 6)
    const qy = at(places, 7)
    const qz = at(places, 8)
    const slower = -1 / at(middle, SPEED)
    const byColumn = (nx * px + ny * py + nz * pz) * slower
    const byRow = (nx * qx + ny * qy + nz * qz) * slower
    middle[BY_COLUMN] = byColumn
    middle[BY_ROW] = byRow
    middle[MOST] = -at(middle, GAP) * slower + across * Math.abs(byColumn) + along * Math.abs(byRow)
    middle[RADIUS] = across * Math.sqrt(px * px + py * py + pz * pz) + along * Math.sqrt(qx * qx + qy * qy + qz * qz)
  }

  /** Whether all rays meet the plane within the inner ellipse, where no girdle facet can be in front of it. */
  #isWithin(places: RayPositions): boolean {
    const middle = this.#middle
    const across = at(middle, ACROSS)
    const along = at(middle, ALONG)
    const { inner } = this.planes
    const reach = at(middle, GAP) / at(middle, SPEED)
    const dx = at(middle, TX)
    const dy = at(middle, TY)
    const byColumn = at(middle, BY_COLUMN)
    const byRow = at(middle, BY_ROW)
    const x =
      Math.abs(at(middle, X) + reach * dx) +
      across * Math.abs(at(places, 3) + byColumn * dx) +
      along * Math.abs(at(places, 6) + byRow * dx)
    const y =
      Math.abs(at(middle, Y) + reach * dy - inner.middle) +
      across * Math.abs(at(places, 4) + byColumn * dy) +
      along * Math.abs(at(places, 7) + byRow * dy)
    return (x * x) / inner.across + (y * y) / inner.along < 1
  }

  /** Whether all rays meet a crown plane above the pavilion's highest point, or a pavilion plane below the crown's lowest point. */
  #isClear(places: RayPositions, rises: boolean): boolean {
    const middle = this.#middle
    const across = at(middle, ACROSS)
    const along = at(middle, ALONG)
    const dz = at(middle, TZ)
    const z = at(middle, Z) + (at(middle, GAP) / at(middle, SPEED)) * dz
    const spread =
      across * Math.abs(at(places, 5) + at(middle, BY_COLUMN) * dz) +
      along * Math.abs(at(places, 8) + at(middle, BY_ROW) * dz)
    return rises ? z - spread > this.planes.pavilionTop : z + spread < this.planes.crownBottom
  }

  #findRivals(places: RayPositions, met: number, from: number, first: number, end: number): void {
    const middle = this.#middle
    const across = at(middle, ACROSS)
    const along = at(middle, ALONG)
    const { planes } = this.planes
    const gaps = this.#gaps
    const speeds = this.#speeds
    const most = at(middle, MOST)
    const radius = at(middle, RADIUS)
    for (let plane = first; plane < end; plane++) {
      const speed = at(speeds, plane)
      const gap = at(gaps, plane)
      // A cheap test first: no ray starts nearer to the plane than the middle by more than the radius.
      if (gap - radius >= most * speed || speed <= 0 || plane === met || plane === from) continue
      const base = 4 * plane
      const nx = at(planes, base)
      const ny = at(planes, base + 1)
      const nz = at(planes, base + 2)
      const byColumn = -(nx * at(places, 3) + ny * at(places, 4) + nz * at(places, 5)) / speed - at(middle, BY_COLUMN)
      const byRow = -(nx * at(places, 6) + ny * at(places, 7) + nz * at(places, 8)) / speed - at(middle, BY_ROW)
      const farther = gap / speed - at(middle, GAP) / at(middle, SPEED)
      if (farther >= across * Math.abs(byColumn) + along * Math.abs(byRow)) continue
      const place = 3 * this.rivalCount
      this.rivalPlanes[this.rivalCount++] = plane
      this.lead[place] = farther
      this.lead[place + 1] = byColumn
      this.lead[place + 2] = byRow
    }
  }

  /** Converts leads from the middle, where they were computed, to the origin of the pixel coordinates. */
  #relate(twiceColumn: number, twiceRow: number): void {
    const column = twiceColumn / 2
    const row = twiceRow / 2
    for (let place = 0; place < 3 * this.rivalCount; place += 3) {
      this.lead[place] = at(this.lead, place) - column * at(this.lead, place + 1) - row * at(this.lead, place + 2)
    }
  }
}
