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
export type TileReader = (place: TileAddress) => readonly Hash[] | Promise<readonly Hash[]>

const inRow = (size: number, row: number): number => Math.floor(size / TILE_WIDTH ** row)

/**
 * The last tile of each row, to which the next hashes are appended. `count`: hashes in it for a tree of `size` leaves.
 */
export function edgeTiles(size: number): (TileAddress & { readonly count: number })[] {
  const places = []
  for (let row = 0; row === 0 || inRow(size, row) > 0; row++) {
    const count = inRow(size, row)
    places.push({ row, tile: Math.floor(count / TILE_WIDTH), count: count % TILE_WIDTH })
  }
  return places
}

export type UpdatedTile = TileAddress & { readonly hashes: readonly Hash[] }

/**
 * The tiles that change or are added when leaves are appended.
 * @param tiles returns the edge tiles; hashes beyond `size` are ignored
 */
export async function appendLeaves(tiles: TileReader, size: number, leaves: readonly Hash[]): Promise<UpdatedTile[]> {
  const grown: UpdatedTile[] = []
  let added = leaves
  for (let row = 0; added.length > 0; row++) {
    const count = inRow(size, row)
    let tile = Math.floor(count / TILE_WIDTH)
    const kept = count % TILE_WIDTH
    let hashes = kept === 0 ? [] : [...(await tiles({ row, tile }))].slice(0, kept)
    if (hashes.length < kept) throw missing({ row, tile }, hashes.length, kept)
    const full: Hash[] = []
    for (const hash of added) {
      hashes.push(hash)
      if (hashes.length < TILE_WIDTH) continue
      grown.push({ row, tile, hashes })
      full.push(rootOf(hashes))
      tile++
      hashes = []
    }
    if (hashes.length > 0) grown.push({ row, tile, hashes })
    added = full
  }
  return grown
}

/** @throws IncompleteTree if a tile lacks hashes */
export async function rangeHash(tiles: TileReader, range: LeafRange): Promise<Hash> {
  const parts = await Promise.all(perfectSubtreesOf(range).map((part) => perfectSubtreeHash(tiles, part)))
  return (
    parts.reduceRight<Hash | undefined>((right, left) => (right ? nodeHash(left, right) : left), undefined) ??
    EMPTY_ROOT
  )
}

async function perfectSubtreeHash(tiles: TileReader, { level, index }: PerfectSubtree): Promise<Hash> {
  const row = Math.floor(level / TILE_HEIGHT)
  const width = 2 ** (level % TILE_HEIGHT)
  const first = index * width
  const place = { row, tile: Math.floor(first / TILE_WIDTH) }
  const hashes = (await tiles(place)).slice(first % TILE_WIDTH, (first % TILE_WIDTH) + width)
  if (hashes.length < width) throw missing(place, hashes.length, width)
  return rootOf(hashes)
}

/** @param hashes their number is a power of two */
function rootOf(hashes: readonly Hash[]): Hash {
  let row = hashes
  while (row.length > 1) {
    const above: Hash[] = []
    for (let index = 0; index < row.length; index += 2) above.push(nodeHash(row[index] as Hash, row[index + 1] as Hash))
    row = above
  }
  return row[0] as Hash
}

/** Hashes are missing: the tree is being updated at this moment, or was damaged. */
export class IncompleteTree extends StoreUnavailable {
  override readonly name = 'IncompleteTree'
}

const missing = ({ row, tile }: TileAddress, found: number, wanted: number) =>
  new IncompleteTree(`tile ${tile} of row ${row} of the tree has ${found} hashes, but ${wanted} are needed`)
