import type { Hash } from '../../src/evidence/hashes.ts'
import { appendLeaves, type TileAddress, type TileReader } from '../../src/evidence/tiles.ts'

/** A Merkle tree whose tiles are in memory. */
export class InMemoryTree {
  size = 0
  readonly #tiles = new Map<string, readonly Hash[]>()
  readonly tiles: TileReader = async (place) => this.#tiles.get(nameOf(place)) ?? []

  async add(leaves: readonly Hash[]): Promise<void> {
    for (const { hashes, ...place } of await appendLeaves(this.tiles, this.size, leaves))
      this.#tiles.set(nameOf(place), hashes)
    this.size += leaves.length
  }
}

const nameOf = ({ row, tile }: TileAddress) => `${row}/${tile}`
