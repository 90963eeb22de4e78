import { InvalidEventPayload } from '../../events/decode.ts'
import { hashLeafEvent, toLeafEvent, type Hash } from '../../evidence/hashes.ts'
import { consistencyProofRanges, inclusionProofRanges, type LeafRange } from '../../evidence/subtrees.ts'
import { rangeHash, TILE_WIDTH, type TileAddress, type TileReader } from '../../evidence/tiles.ts'
import { comparePositions, type PositionOrStart, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { hashesIn, keyOfTile, SIZE_KEY } from './merkle-tree.ts'

/** An event does not stand in the tree where its position says: one of the two was changed. */
export class NotInTree extends InvalidEventPayload {}

/** What is asked of the tree. Tiles that were read are kept for as long as the object: make one for each answer. */
export class TreeQueries {
  readonly #tiles = new Map<number, Promise<readonly Hash[]>>()
  #position: Promise<PositionOrStart> | undefined

  constructor(private readonly model: Pick<ReadModel, 'get' | 'find' | 'position'>) {}

  /** The position of the tree, read before any tile: the tiles hold every event up to it, and may hold later ones. */
  #reached(): Promise<PositionOrStart> {
    this.#position ??= Promise.resolve(this.model.position())
    return this.#position
  }

  /** How many leaves there are: 0 before the tree has begun. */
  async size(): Promise<number> {
    return Number((await this.model.get(SIZE_KEY, ['size']))?.['size'] ?? 0)
  }

  /** The root of the first so many leaves. */
  root(size: number): Promise<Hash> {
    return rangeHash(this.tiles, { begin: 0, end: size })
  }

  /** @throws RangeError for a leaf that is not among so many */
  inclusionProof(index: number, size: number): Promise<Hash[]> {
    return this.#hashes(inclusionProofRanges(index, size))
  }

  /** @throws RangeError where there are more before than behind */
  consistencyProof(from: number, to: number): Promise<Hash[]> {
    return this.#hashes(consistencyProofRanges(from, to))
  }

  /**
   * Where an event stands: its tile is found by its position, its place there by its hash.
   * @returns undefined for one that is younger than the tree of so many leaves
   * @throws NotInTree
   */
  async indexOf(event: StoredEvent, size: number): Promise<number | undefined> {
    const reached = await this.#reached()
    const hash = hashLeafEvent(toLeafEvent(event))
    const commit = Number(event.position.commit)
    const [tile, before] = await this.model.find({
      where: { commit: { from: 0, to: commit } },
      order: [['commit', 'desc']],
      limit: 2,
      offset: 0,
      select: ['id'],
    })
    // Events of one append may share a position: the tile before may end with some of them.
    for (const found of [tile, before]) {
      if (found === undefined) continue
      const row = await this.tiles({ row: 0, tile: Number(found['id']) })
      const at = row.findIndex((one) => one.equals(hash))
      if (at >= 0) return indexWithin(Number(found['id']) * TILE_WIDTH + at, size)
    }
    if (comparePositions(event.position, reached) > 0) return undefined
    throw new NotInTree(`${event.stream}@${event.revision} is not what the tree holds of it`)
  }

  readonly tiles: TileReader = (place: TileAddress) => {
    const key = keyOfTile(place)
    const known = this.#tiles.get(key) ?? this.#read(key)
    this.#tiles.set(key, known)
    return known
  }

  async #read(key: number): Promise<readonly Hash[]> {
    await this.#reached()
    const document = await this.model.get(key, ['hashes'])
    return document === undefined ? [] : hashesIn(document)
  }

  #hashes(ranges: readonly LeafRange[]): Promise<Hash[]> {
    return Promise.all(ranges.map((range) => rangeHash(this.tiles, range)))
  }
}

const indexWithin = (index: number, size: number) => (index < size ? index : undefined)
