import { at } from '../light/numbers.ts'
import { DX, DY, DZ, type Ray } from '../light/ray.ts'

/**
 * Rays of other indices that are taken along with one, as if they met what it meets: what they differ in is their direction. Of each three
 * numbers inside the stone, and four where they leave: the direction, and 1 where they do.
 */
export class Beside {
  readonly directions: Float64Array
  readonly outside: Float64Array

  constructor(private readonly indices: readonly number[]) {
    this.directions = new Float64Array(3 * indices.length)
    this.outside = new Float64Array(4 * indices.length)
  }

  /** They come into the stone. The ray is still outside. */
  enter(ray: Ray, nx: number, ny: number, nz: number): void {
    const cosine = -(nx * at(ray, DX) + ny * at(ray, DY) + nz * at(ray, DZ))
    for (const [one, index] of this.indices.entries()) {
      const bend = cosine / index - Math.sqrt(1 - (1 - cosine * cosine) / (index * index))
      this.directions[3 * one] = at(ray, DX) / index + bend * nx
      this.directions[3 * one + 1] = at(ray, DY) / index + bend * ny
      this.directions[3 * one + 2] = at(ray, DZ) / index + bend * nz
    }
  }

  /** What of them leaves at a plane: nothing where an index reflects totally. */
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

  /** Becomes what another is inside. */
  copy({ directions }: Beside): void {
    for (let index = 0; index < directions.length; index++) this.directions[index] = at(directions, index)
  }
}
