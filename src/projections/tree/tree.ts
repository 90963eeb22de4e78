import { hashOfLeaf, leafEvent, type Hash } from '../../evidence/hashes.ts'
import { edge, grow, TILE, type Grown, type Place, type Tiles } from '../../evidence/tiles.ts'
import { STORES_STREAM } from '../../domain/installation/installation.ts'
import { COPY_STREAM } from '../../domain/installation/moving.ts'
import { comparePositions, type From, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Build, Document, Stored, Write } from '../../stores/ports/read-store.ts'
import { placesIn, textOf } from '../engine/places.ts'
import { logModel } from '../engine/read-model.ts'

/** What a log knows of how it was filled, and of its vault and files, is its own: a move does not carry it. */
const OWN: ReadonlySet<string> = new Set([COPY_STREAM, STORES_STREAM])

/** Whether an event is a leaf. */
export const isLeaf = ({ stream }: Pick<StoredEvent, 'stream'>): boolean => !OWN.has(stream)

/** The document that says how large the tree is. */
export const SIZE_KEY = -1
/** Tiles of a row are numbered from here: no tree has as many leaves. */
export const ROW = 2 ** 44
/** What stands in `commit` where a document begins with no event. */
export const NO_EVENT = -1
/** Bytes of a hash in base64, written one behind the other. */
export const TEXT = 44

export const keyOfTile = ({ row, tile }: Place): number => row * ROW + tile

/** The hashes in a tile's document. */
export function hashesIn(document: Document): Hash[] {
  const text = String(document['hashes'])
  return Array.from({ length: text.length / TEXT }, (_, at) =>
    Buffer.from(text.slice(at * TEXT, (at + 1) * TEXT), 'base64'),
  )
}

/**
 * The hash tree over the log (RFC 6962), as tiles: `commit` of a tile of leaves is the position of its first event. It tells
 * whoever holds a signed root of it whether the log is still what it was.
 */
export const tree = logModel({
  name: 'tree',
  version: 1,
  follows: [''],
  documents: {
    fields: { id: 'integer', commit: 'integer', size: 'integer' },
    texts: ['hashes', 'places'],
    indexes: [['commit']],
    counts: [],
  },
  // A tile is written anew with each batch: nobody waits for the tree, and larger batches cost less.
  lag: 500,
  fold,
})

async function fold(build: Pick<Build, 'load'>, from: From, events: readonly StoredEvent[]): Promise<Write[]> {
  const leaves = events.filter(isLeaf)
  const last = leaves.at(-1)
  if (last === undefined) return []
  const [kept] = await build.load([SIZE_KEY])
  const size = sizeAt(kept, from)
  const found = await build.load(edge(size).map(keyOfTile))
  const stored = new Map(found.map((one) => [Number(one.document['id']), one]))
  const hashed = leaves.map((event) => hashOfLeaf(leafEvent(event)))
  const grown = await grow(tilesIn(stored), size, hashed)
  const writes = grown.map((tile) => tileWrite(tile, stored.get(keyOfTile(tile)), { size, leaves }))
  return [...writes, sizeWrite(kept, { before: size, size: size + leaves.length, from, to: last.position })]
}

const tilesIn =
  (stored: ReadonlyMap<number, Stored>): Tiles =>
  (place) => {
    const found = stored.get(keyOfTile(place))
    return found === undefined ? [] : hashesIn(found.document)
  }

/** What a batch adds to. */
type Added = { readonly size: number; readonly leaves: readonly StoredEvent[] }

/** What a tile holds only grows: one that a write which broke off has left fuller stays, and the rest is the same. */
function tileWrite(grown: Grown, over: Stored | undefined, { size, leaves }: Added): Write {
  const { row, tile, hashes } = grown
  const first = row === 0 ? leaves[tile * TILE - size]?.position.commit : undefined
  const commit = first === undefined ? (over?.document['commit'] ?? NO_EVENT) : Number(first)
  const text = hashes.map((hash) => hash.toString('base64')).join('')
  const put = { id: keyOfTile(grown), commit, size: hashes.length, hashes: text, places: '' }
  return { put, revision: BigInt(hashes.length), ...(over && { over }) }
}

/** A batch: how many leaves there were before and behind it, and the places that it lies between. */
type Span = { readonly before: number; readonly size: number; readonly from: From; readonly to: From }

function sizeWrite(over: Stored | undefined, { before, size, from, to }: Span): Write {
  const put = { id: SIZE_KEY, commit: NO_EVENT, size, hashes: String(before), places: textOf([from, to]) }
  return { put, revision: (over?.revision ?? 0n) + 1n, ...(over && { over }) }
}

/** How many leaves there are up to a checkpoint: those before the last batch, where that comes again. */
function sizeAt(kept: Stored | undefined, from: From): number {
  if (kept === undefined) return 0
  const { size, hashes: before, places } = kept.document
  const [began = 'start', ended = 'start'] = placesIn(String(places))
  if (comparePositions(ended, from) <= 0) return Number(size)
  if (comparePositions(began, from) <= 0) return Number(before)
  throw new Error('the tree has gone on from a place that its checkpoint has not come to')
}
