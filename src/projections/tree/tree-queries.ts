import { InvalidEventPayload } from '../../events/decode.ts'
import { hashLeafEvent, toLeafEvent, type Hash } from '../../evidence/hashes.ts'
import { consistencyProofRanges, inclusionProofRanges, type LeafRange } from '../../evidence/subtrees.ts'
import { rangeHash, TILE_WIDTH, type TileAddress, type TileReader } from '../../evidence/tiles.ts'
import { comparePositions, type PositionOrStart, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { parseHashes, keyOfTile, SIZE_KEY } from './merkle-tree.ts'

/** The tree does not have an event at the event's position: the event or the tree was altered. */
export class NotInTree extends InvalidEventPayload {}

/** Queries of the tree. Tiles are cached by the object: use a new one for each request. */
export class TreeQueries {
  readonly #tiles = new Map<number, Promise<readonly Hash[]>>()
  #position: Promise<PositionOrStart> | undefined

  constructor(private readonly model: Pick<ReadModel, 'get' | 'find' | 'position'>) {}

  /** The position of the tree, read before any tile: the tiles have every event up to it, and possibly later ones. */
  #readPosition(): Promise<PositionOrStart> {
    this.#position ??= Promise.resolve(this.model.position())
    return this.#position
  }

  /** The number of leaves; 0 for an empty tree. */
  async size(): Promise<number> {
    return Number((await this.model.get(SIZE_KEY, ['size']))?.['size'] ?? 0)
  }

  /** The root of the first `size` leaves. */
  root(size: number): Promise<Hash> {
    return rangeHash(this.readTile, { begin: 0, end: size })
  }

  /** @throws RangeError if `index` is not less than `size` */
  inclusionProof(index: number, size: number): Promise<Hash[]> {
    return this.#hashes(inclusionProofRanges(index, size))
  }

  /** @throws RangeError if `from` is greater than `to` */
  consistencyProof(from: number, to: number): Promise<Hash[]> {
    return this.#hashes(consistencyProofRanges(from, to))
  }

  /**
   * The leaf index of an event: its position finds the tile, its hash the leaf within.
   * @returns undefined if the event is not among the first `size` leaves
   * @throws NotInTree
   */
  async indexOf(event: StoredEvent, size: number): Promise<number | undefined> {
    const treePosition = await this.#readPosition()
    const hash = hashLeafEvent(toLeafEvent(event))
    const commit = Number(event.position.commit)
    const [tile, previousTile] = await this.model.find({
      where: { commit: { from: 0, to: commit } },
      order: [['commit', 'desc']],
      limit: 2,
      offset: 0,
      select: ['id'],
    })
    // Events of one append may share a position: some of them may be in the previous tile.
    for (const document of [tile, previousTile]) {
      if (document === undefined) continue
      const row = await this.readTile({ row: 0, tile: Number(document['id']) })
      const indexInTile = row.findIndex((one) => one.equals(hash))
      if (indexInTile >= 0) return indexWithin(Number(document['id']) * TILE_WIDTH + indexInTile, size)
    }
    if (comparePositions(event.position, treePosition) > 0) return undefined
    throw new NotInTree(`${event.stream}@${event.revision} differs from its leaf in the tree`)
  }

  readonly readTile: TileReader = (address: TileAddress) => {
    const key = keyOfTile(address)
    const hashes = this.#tiles.get(key) ?? this.#read(key)
    this.#tiles.set(key, hashes)
    return hashes
  }

  async #read(key: number): Promise<readonly Hash[]> {
    await this.#readPosition()
    const document = await this.model.get(key, ['hashes'])
    return document === undefined ? [] : parseHashes(document)
  }

  #hashes(ranges: readonly LeafRange[]): Promise<Hash[]> {
    return Promise.all(ranges.map((range) => rangeHash(this.readTile, range)))
  }
}

const indexWithin = (index: number, size: number) => (index < size ? index : undefined)
