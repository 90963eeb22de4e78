import { hashLeafEvent, toLeafEvent, type Hash } from '../../evidence/hashes.ts'
import {
  edgeTiles,
  appendLeaves,
  TILE_WIDTH,
  type UpdatedTile,
  type TileAddress,
  type TileReader,
} from '../../evidence/tiles.ts'
import { STORES_STREAM } from '../../domain/installation/installation.ts'
import { COPY_STREAM } from '../../domain/installation/read-only-state.ts'
import { comparePositions, type PositionOrStart, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModelBuild, Document, StoredDocument, DocumentWrite } from '../../stores/ports/read-store.ts'
import { parsePositions, formatPositions } from '../engine/position-text.ts'
import { defineLogModel } from '../engine/read-model.ts'

/** Streams about this copy of the log, its vault and its files; `move` does not carry them over. */
const EXCLUDED_STREAMS: ReadonlySet<string> = new Set([COPY_STREAM, STORES_STREAM])

export const isLeaf = ({ stream }: Pick<StoredEvent, 'stream'>): boolean => !EXCLUDED_STREAMS.has(stream)

/** The document that stores the size of the tree. */
export const SIZE_KEY = -1
/** Tile ids of a row start at its multiple of this; no tree has as many leaves. */
export const ROW_KEY_STRIDE = 2 ** 44
/** The value of `commit` in documents that do not begin with an event. */
export const NO_EVENT = -1
/** Characters of a hash in base64; hashes are concatenated. */
export const HASH_TEXT_LENGTH = 44

export const keyOfTile = ({ row, tile }: TileAddress): number => row * ROW_KEY_STRIDE + tile

export function parseHashes(document: Document): Hash[] {
  const text = String(document['hashes'])
  return Array.from({ length: text.length / HASH_TEXT_LENGTH }, (_, at) =>
    Buffer.from(text.slice(at * HASH_TEXT_LENGTH, (at + 1) * HASH_TEXT_LENGTH), 'base64'),
  )
}

/**
 * The Merkle tree over the log (RFC 6962), as tiles; `commit` of a tile of leaves is the position of its first event.
 * With a signed root, anyone can verify that the log has not been rewritten.
 */
export const merkleTree = defineLogModel({
  name: 'tree',
  version: 1,
  streamPrefixes: [''],
  documents: {
    fields: { id: 'integer', commit: 'integer', size: 'integer' },
    texts: ['hashes', 'places'],
    indexes: [['commit']],
    counts: [],
  },
  // Each batch rewrites a tile: no request waits for the tree, and larger batches cost less.
  maxLagMs: 500,
  fold,
})

async function fold(
  build: Pick<ReadModelBuild, 'load'>,
  from: PositionOrStart,
  events: readonly StoredEvent[],
): Promise<DocumentWrite[]> {
  const leaves = events.filter(isLeaf)
  const last = leaves.at(-1)
  if (last === undefined) return []
  const [sizeDocument] = await build.load([SIZE_KEY])
  const size = sizeAt(sizeDocument, from)
  const tileDocuments = await build.load(edgeTiles(size).map(keyOfTile))
  const storedTiles = new Map(tileDocuments.map((one) => [Number(one.document['id']), one]))
  const leafHashes = leaves.map((event) => hashLeafEvent(toLeafEvent(event)))
  const updatedTiles = await appendLeaves(toTileReader(storedTiles), size, leafHashes)
  const writes = updatedTiles.map((tile) => tileWrite(tile, storedTiles.get(keyOfTile(tile)), { size, leaves }))
  return [...writes, sizeWrite(sizeDocument, { sizeBefore: size, size: size + leaves.length, from, to: last.position })]
}

const toTileReader =
  (storedTiles: ReadonlyMap<number, StoredDocument>): TileReader =>
  async (address) => {
    const found = storedTiles.get(keyOfTile(address))
    return found === undefined ? [] : parseHashes(found.document)
  }

type LeafBatch = { readonly size: number; readonly leaves: readonly StoredEvent[] }

/** Tiles only grow: a fuller tile left by an interrupted write stays, and the hashes in common are equal. */
function tileWrite(
  updatedTile: UpdatedTile,
  base: StoredDocument | undefined,
  { size, leaves }: LeafBatch,
): DocumentWrite {
  const { row, tile, hashes } = updatedTile
  const first = row === 0 ? leaves[tile * TILE_WIDTH - size]?.position.commit : undefined
  const commit = first === undefined ? (base?.document['commit'] ?? NO_EVENT) : Number(first)
  const text = hashes.map((hash) => hash.toString('base64')).join('')
  const put = { id: keyOfTile(updatedTile), commit, size: hashes.length, hashes: text, places: '' }
  return { put, revision: BigInt(hashes.length), ...(base && { basedOn: base }) }
}

/** The tree's size before and after a batch, and the positions that the batch lies between. */
type TreeGrowth = {
  readonly sizeBefore: number
  readonly size: number
  readonly from: PositionOrStart
  readonly to: PositionOrStart
}

function sizeWrite(base: StoredDocument | undefined, { sizeBefore, size, from, to }: TreeGrowth): DocumentWrite {
  const put = { id: SIZE_KEY, commit: NO_EVENT, size, hashes: String(sizeBefore), places: formatPositions([from, to]) }
  return { put, revision: (base?.revision ?? 0n) + 1n, ...(base && { basedOn: base }) }
}

/** The number of leaves at a checkpoint: the size before the last batch if that batch is delivered again. */
function sizeAt(sizeDocument: StoredDocument | undefined, from: PositionOrStart): number {
  if (sizeDocument === undefined) return 0
  const { size, hashes: sizeBefore, places } = sizeDocument.document
  const [batchStart = 'start', batchEnd = 'start'] = parsePositions(String(places))
  if (comparePositions(batchEnd, from) <= 0) return Number(size)
  if (comparePositions(batchStart, from) <= 0) return Number(sizeBefore)
  throw new Error('the tree was extended from a position that its checkpoint has not reached')
}
