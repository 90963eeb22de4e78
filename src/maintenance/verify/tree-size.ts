import { setTimeout as pause } from 'node:timers/promises'
import { placesIn, textOf } from '../../projections/engine/places.ts'
import { isLeaf, NO_EVENT, SIZE_KEY } from '../../projections/tree/tree.ts'
import { comparePositions, type From } from '../../stores/ports/event-store.ts'
import type { Build, Document, Stored } from '../../stores/ports/read-store.ts'
import { REBUILD, type ComparingTree } from './tree-tiles.ts'
import { everyEvent } from '../../events/every-event.ts'

/** Looks for a size that belongs to the checkpoint, and milliseconds between two. */
const LOOKS = 200
const PAUSE = 10

/** How large a tree was, and the checkpoint that it was so at. */
export type Captured = { readonly position: From; readonly stored: Stored | undefined }

/** Undefined where the two don't fit, however often they are read. MongoDB has a document before the checkpoint. */
export async function captureSize(live: Build): Promise<Captured | undefined> {
  for (let look = 0; look < LOOKS; look++) {
    const position = await positionOf(live)
    const [stored] = await live.load([SIZE_KEY], undefined, 'acknowledged')
    const [, to = 'start'] = placesOf(stored?.document) ?? []
    const isSettled = comparePositions(to, position) <= 0
    if (isSettled && comparePositions(position, await positionOf(live)) === 0) return { position, stored }
    await pause(PAUSE)
  }
  return undefined
}

/** Compares the size with that of the log's tree at the same checkpoint, and what is kept of the last batch with the log. */
export async function checkSize({ store, fresh, found }: ComparingTree, stored: Stored | undefined): Promise<void> {
  const [wanted] = await fresh.build.load([SIZE_KEY])
  const tell = (what: string) => found.add({ where: 'tree', what, do: REBUILD })
  if (stored === undefined || wanted === undefined) {
    if (stored !== wanted)
      tell(`the size of the tree is ${stored === undefined ? 'missing' : 'there, and the log is empty'}`)
    return
  }
  const { size, hashes: before, commit } = stored.document
  if (size !== wanted.document['size']) {
    tell(`the tree has ${size} events, where the log has ${wanted.document['size']}`)
    return
  }
  const places = placesOf(stored.document)
  const [from = 'start', to = 'start'] = places ?? []
  const isLast = textOf([to]) === textOf([placesOf(wanted.document)?.at(-1) ?? 'start'])
  let since = 0
  for await (const event of everyEvent(store, from, () => undefined)) {
    if (comparePositions(event.position, to) > 0) break
    if (isLeaf(event)) since++
  }
  if (places?.length !== 2 || commit !== NO_EVENT || !isLast || String(Number(size) - since) !== before) {
    tell('what is kept of the last batch of the tree is not what the log says')
  }
}

/** Undefined where the text says no places. */
function placesOf(document: Document | undefined): From[] | undefined {
  const text = String(document?.['places'] ?? '')
  try {
    const places = placesIn(text)
    return textOf(places) === text ? places : undefined
  } catch {
    return undefined
  }
}

const positionOf = async (build: Build): Promise<From> => (await build.checkpoint())?.position ?? 'start'
