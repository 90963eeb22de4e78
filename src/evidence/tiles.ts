import { StoreUnavailable } from '../stores/ports/event-store.ts'
import { EMPTY_ROOT, nodeHash, type Hash } from './hashes.ts'
import { perfectSubtreesOf, type PerfectSubtree, type LeafRange } from './subtrees.ts'

/**
 * The Merkle tree is stored as tiles of 256 hashes. Row 0 holds the leaf hashes, row 1 the hash of each full tile of
 * row 0, and so on. Hashes between two rows are recomputed when needed. A proof needs one or two tiles per row.
 */
export const TILE_WIDTH = 256
const TILE_HEIGHT = Math.log2(TILE_WIDTH)

export type TileAddress = { readonly row: number; readonly tile: number }

/** Returns the hashes of a tile, at most TILE_WIDTH, or none if it does not exist. */
export type TileReader = (address: TileAddress) => Promise<readonly Hash[]>

const hashesInRow = (size: number, row: number): number => Math.floor(size / TILE_WIDTH ** row)

/**
 * The last tile of each row, to which the next hashes are appended. `count`: hashes in it for a tree of `size` leaves.
 */
export function edgeTiles(size: number): (TileAddress & { readonly count: number })[] {
  const tiles = []
  for (let row = 0; row === 0 || hashesInRow(size, row) > 0; row++) {
    const count = hashesInRow(size, row)
    tiles.push({ row, tile: Math.floor(count / TILE_WIDTH), count: count % TILE_WIDTH })
  }
  return tiles
}

export type UpdatedTile = TileAddress & { readonly hashes: readonly Hash[] }

/**
 * The tiles that change or are added when leaves are appended.
 * @param readTile returns the edge tiles; hashes beyond `size` are ignored
 */
export async function appendLeaves(
  readTile: TileReader,
  size: number,
  leaves: readonly Hash[],
): Promise<UpdatedTile[]> {
  const updatedTiles: UpdatedTile[] = []
  let newHashes = leaves
  for (let row = 0; newHashes.length > 0; row++) {
    const count = hashesInRow(size, row)
    let tile = Math.floor(count / TILE_WIDTH)
    const existingCount = count % TILE_WIDTH
    let hashes = existingCount === 0 ? [] : [...(await readTile({ row, tile }))].slice(0, existingCount)
    if (hashes.length < existingCount) throw incompleteTree({ row, tile }, hashes.length, existingCount)
    const fullTileRoots: Hash[] = []
    for (const hash of newHashes) {
      hashes.push(hash)
      if (hashes.length < TILE_WIDTH) continue
      updatedTiles.push({ row, tile, hashes })
      fullTileRoots.push(rootOf(hashes))
      tile++
      hashes = []
    }
    if (hashes.length > 0) updatedTiles.push({ row, tile, hashes })
    newHashes = fullTileRoots
  }
  return updatedTiles
}

/** @throws IncompleteTree if a tile lacks hashes */
export async function rangeHash(readTile: TileReader, range: LeafRange): Promise<Hash> {
  const parts = await Promise.all(perfectSubtreesOf(range).map((part) => perfectSubtreeHash(readTile, part)))
  return (
    parts.reduceRight<Hash | undefined>((right, left) => (right ? nodeHash(left, right) : left), undefined) ??
    EMPTY_ROOT
  )
}

async function perfectSubtreeHash(readTile: TileReader, { level, index }: PerfectSubtree): Promise<Hash> {
  const row = Math.floor(level / TILE_HEIGHT)
  const width = 2 ** (level % TILE_HEIGHT)
  const first = index * width
  const address = { row, tile: Math.floor(first / TILE_WIDTH) }
  const hashes = (await readTile(address)).slice(first % TILE_WIDTH, (first % TILE_WIDTH) + width)
  if (hashes.length < width) throw incompleteTree(address, hashes.length, width)
  return rootOf(hashes)
}

/** @param hashes their number is a power of two */
function rootOf(hashes: readonly Hash[]): Hash {
  let row = hashes
  while (row.length > 1) {
    const parentRow: Hash[] = []
    for (let index = 0; index < row.length; index += 2)
      parentRow.push(nodeHash(row[index] as Hash, row[index + 1] as Hash))
    row = parentRow
  }
  return row[0] as Hash
}

/** Hashes are missing: the tree is being updated at this moment, or was damaged. */
export class IncompleteTree extends StoreUnavailable {
  override readonly name = 'IncompleteTree'
}

const incompleteTree = ({ row, tile }: TileAddress, found: number, needed: number) =>
  new IncompleteTree(`tile ${tile} of row ${row} of the tree has ${found} hashes, but ${needed} are needed`)
