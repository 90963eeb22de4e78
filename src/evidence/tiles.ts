import { StoreUnavailable } from '../stores/ports/event-store.ts'
import { EMPTY_ROOT, nodeHash, type Hash } from './hashes.ts'
import { perfectSubtreesOf, type PerfectSubtree, type LeafRange } from './subtrees.ts'

/**
 * The tree is kept as tiles of 256 hashes. Row 0 holds the leaves' hashes, row 1 that of each full tile of row 0, and so
 * on: what lies between two rows is hashed again when it is asked for. Every proof needs one tile a row, or two.
 */
export const TILE_WIDTH = 256
const TILE_HEIGHT = Math.log2(TILE_WIDTH)

/** Which tile: its row, and its number in it. */
export type TileAddress = { readonly row: number; readonly tile: number }

/** The hashes of one tile, up to TILE of them; none where there is no such tile. */
export type TileReader = (place: TileAddress) => readonly Hash[] | Promise<readonly Hash[]>

/** How many hashes a row has in a tree of so many leaves. */
const inRow = (size: number, row: number): number => Math.floor(size / TILE_WIDTH ** row)

/** The last tile of each row, where the next hashes go; what they hold of a tree of `size` leaves is in `count`. */
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
 * The tiles that so many more leaves change or add.
 * @param tiles those of the edge; what they hold beyond `size` is left out of account
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

/** The hash of what the RFC's way of cutting a tree comes by. @throws IncompleteTree where a tile lacks some of it */
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

/** @param hashes a power of two of them */
function rootOf(hashes: readonly Hash[]): Hash {
  let row = hashes
  while (row.length > 1) {
    const above: Hash[] = []
    for (let index = 0; index < row.length; index += 2) above.push(nodeHash(row[index] as Hash, row[index + 1] as Hash))
    row = above
  }
  return row[0] as Hash
}

/** Some of the tree is not there: it is being written at this moment, or was damaged. */
export class IncompleteTree extends StoreUnavailable {
  override readonly name = 'IncompleteTree'
}

const missing = ({ row, tile }: TileAddress, found: number, wanted: number) =>
  new IncompleteTree(`tile ${tile} of row ${row} of the tree has ${found} hashes where ${wanted} are needed`)
