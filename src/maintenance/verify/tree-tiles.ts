import { TILE } from '../../evidence/tiles.ts'
import { TEXT } from '../../projections/tree/tree.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Build, Document, Stored } from '../../stores/ports/read-store.ts'
import type { Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'

/** The live tree beside one made of the log anew. */
export type ComparingTree = {
  readonly store: EventStore
  readonly live: Build
  readonly fresh: FreshModel
  readonly found: Differences
}

/** What an operator does where only the tree is not what it was. */
export const REBUILD = 'npx adamant rebuild tree'

/** The hashes of a tile, each in base64. */
export function hashTexts({ hashes }: Document): string[] {
  const text = String(hashes)
  return Array.from({ length: Math.ceil(text.length / TEXT) }, (_, at) => text.slice(at * TEXT, (at + 1) * TEXT))
}

/** Whether a tile holds what it should, and perhaps more behind it. */
export function isContinued(wanted: Document, { document, revision }: Stored): boolean {
  const { length } = hashTexts(document)
  return (
    String(document['hashes']).startsWith(String(wanted['hashes'])) &&
    document['commit'] === wanted['commit'] &&
    document['places'] === wanted['places'] &&
    document['size'] === length &&
    revision === BigInt(length) &&
    length <= TILE
  )
}
