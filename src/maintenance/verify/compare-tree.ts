import { readEveryEvent } from '../../events/read-every-event.ts'
import { hashLeafEvent, toLeafEvent } from '../../evidence/hashes.ts'
import { TILE_WIDTH } from '../../evidence/tiles.ts'
import { parsePositions, formatPositions } from '../../projections/engine/position-text.ts'
import { TreeQueries } from '../../projections/tree/tree-queries.ts'
import {
  isLeaf,
  keyOfTile,
  NO_EVENT,
  ROW_KEY_STRIDE,
  SIZE_KEY,
  HASH_TEXT_LENGTH,
} from '../../projections/tree/merkle-tree.ts'
import {
  comparePositions,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { ReadModelBuild, Document, StoredDocument } from '../../stores/ports/read-store.ts'
import { readConsistent } from './compare-model.ts'
import type { Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'

/** The live tree beside one made of the log anew. */
export type TreeComparison = {
  readonly store: EventStore
  readonly live: ReadModelBuild
  readonly fresh: FreshModel
  readonly found: Differences
}

/** What an operator does where only the tree is not what it was. */
const REBUILD_REMEDY = 'npx adamant rebuild tree'

/** The hashes of a tile, each in base64. */
function hashTexts({ hashes }: Document): string[] {
  const text = String(hashes)
  return Array.from({ length: Math.ceil(text.length / HASH_TEXT_LENGTH) }, (_, at) =>
    text.slice(at * HASH_TEXT_LENGTH, (at + 1) * HASH_TEXT_LENGTH),
  )
}

/** Whether a tile holds what it should, and perhaps more behind it. */
function isPrefixOfTile(wanted: Document, { document, revision }: StoredDocument): boolean {
  const { length } = hashTexts(document)
  return (
    String(document['hashes']).startsWith(String(wanted['hashes'])) &&
    document['commit'] === wanted['commit'] &&
    document['places'] === wanted['places'] &&
    document['size'] === length &&
    revision === BigInt(length) &&
    length <= TILE_WIDTH
  )
}

/** How large a tree was, and the checkpoint that it was so at; undefined where the two don't fit, however often they are read. */
async function captureSize(
  live: ReadModelBuild,
): Promise<{ position: PositionOrStart; stored: StoredDocument | undefined } | undefined> {
  const settled = await readConsistent(
    live,
    async () => (await live.load([SIZE_KEY], 'acknowledged'))[0],
    (stored, position) => comparePositions((parseTilePositions(stored?.document) ?? [])[1] ?? 'start', position) <= 0,
  )
  return settled && { position: settled.position, stored: settled.read }
}

/** Compares the size with that of the log's tree at the same checkpoint, and what is kept of the last batch with the log. */
async function checkSize({ store, fresh, found }: TreeComparison, stored: StoredDocument | undefined): Promise<void> {
  const [wanted] = await fresh.build.load([SIZE_KEY])
  const tell = (what: string) => found.add({ where: 'tree', what, do: REBUILD_REMEDY })
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
  const places = parseTilePositions(stored.document)
  const [from = 'start', to = 'start'] = places ?? []
  const isLast = formatPositions([to]) === formatPositions([parseTilePositions(wanted.document)?.at(-1) ?? 'start'])
  let since = 0
  for await (const event of readEveryEvent(store, from, () => undefined)) {
    if (comparePositions(event.position, to) > 0) break
    if (isLeaf(event)) since++
  }
  if (places?.length !== 2 || commit !== NO_EVENT || !isLast || String(Number(size) - since) !== before) {
    tell('what is kept of the last batch of the tree is not what the log says')
  }
}

/** Undefined where the text says no places. */
function parseTilePositions(document: Document | undefined): PositionOrStart[] | undefined {
  const text = String(document?.['places'] ?? '')
  try {
    const places = parsePositions(text)
    return formatPositions(places) === text ? places : undefined
  } catch {
    return undefined
  }
}

const REBUILD_OR_RESTORE_REMEDY =
  'an event, or the tree, was changed behind the service: where the event is what was written, npx adamant rebuild tree; else npx adamant restore'

/** Compares the leaves of one tile after another, and says which event does not fit, and how. */
class LeafComparison {
  areSame = true
  /** Events are missing or were put in: all that is behind them stands elsewhere, and is not told of. */
  areShifted = false

  constructor(private readonly comparing: TreeComparison) {}

  /** @param wanted of the log */
  async compare(wanted: Document, stored: StoredDocument | undefined): Promise<void> {
    const { found } = this.comparing
    if (stored !== undefined && isPrefixOfTile(wanted, stored)) return
    this.areSame = false
    const tile = Number(wanted['id'])
    const [log, tree] = [hashTexts(wanted), stored === undefined ? [] : hashTexts(stored.document)]
    const first = log.findIndex((hash, index) => hash !== tree[index])
    const where = `tree, row 0, tile ${tile}`
    if (stored === undefined || first < 0 || tree.length < log.length) {
      found.add({ where, what: stored === undefined ? 'is missing' : 'is not what the log makes', do: REBUILD_REMEDY })
    }
    if (stored !== undefined && first >= 0) await this.#reportLeaves(tile, first, log, tree)
  }

  async #reportLeaves(tile: number, first: number, log: readonly string[], tree: readonly string[]): Promise<void> {
    const behind = await this.#loadNextTile(tile)
    for (let index = first; index < Math.min(log.length, tree.length); index++) {
      if (log[index] === tree[index]) continue
      const inTree = [...tree.slice(index), ...behind.tree].indexOf(log[index] ?? '')
      const inLog = [...log.slice(index), ...behind.log].indexOf(tree[index] ?? '')
      await this.#reportLeaf(tile, log[index] ?? '', inTree, inLog)
      this.areShifted = inTree > 0 !== inLog > 0
      if (this.areShifted) return
    }
  }

  /** The tile behind this one, in the log and in the live tree. */
  async #loadNextTile(tile: number): Promise<{ readonly log: readonly string[]; readonly tree: readonly string[] }> {
    const key = keyOfTile({ row: 0, tile: tile + 1 })
    const [log] = await this.comparing.fresh.build.load([key])
    const [tree] = await this.comparing.live.load([key])
    return { log: log ? hashTexts(log.document) : [], tree: tree ? hashTexts(tree.document) : [] }
  }

  async #reportLeaf(tile: number, hash: string, inTree: number, inLog: number): Promise<void> {
    const { found } = this.comparing
    const event = found.hasRoom ? await this.#findEvent(tile, hash) : undefined
    const where = event === undefined ? `tree, row 0, tile ${tile}` : `${event.stream}@${event.revision}`
    found.add({
      where,
      what: `${event?.type ?? 'an event'} ${describeShift(inTree, inLog)}`,
      do: REBUILD_OR_RESTORE_REMEDY,
    })
  }

  /** The event of the log whose leaf this is; it stands in this tile, and the tile before begins before it. */
  async #findEvent(tile: number, hash: string): Promise<StoredEvent | undefined> {
    const { fresh, store } = this.comparing
    const [before] = tile === 0 ? [] : await fresh.build.load([keyOfTile({ row: 0, tile: tile - 1 })])
    const commit = BigInt(Number(before?.document['commit'] ?? 0))
    const from = before === undefined ? 'start' : { commit, prepare: commit }
    for await (const event of readEveryEvent(store, from, () => undefined)) {
      if (isLeaf(event) && hashLeafEvent(toLeafEvent(event)).toString('base64') === hash) return event
    }
    return undefined
  }
}

function describeShift(inTree: number, inLog: number): string {
  if (inTree > 0 && inLog > 0) return 'does not stand where it was written: the order of the log was changed'
  if (inTree > 0)
    return `stands behind ${formatEventCount(inTree)} fewer than when it was written: they are missing before it`
  if (inLog > 0) return `was not there when the log was written: ${formatEventCount(inLog)} more stand here`
  return 'is not what was written'
}

const formatEventCount = (number: number) => (number === 1 ? '1 event' : `${number} events`)

/** What the log's own tree is. `ok` where the live one is the same. */
export type TreeVerification = { readonly size: number; readonly root: string; readonly ok: boolean }

/**
 * Compares the live hash tree with the log, leaf by leaf, up to where it was when it began. Tiles of a tree that is written to only
 * get longer, so that nothing has to stand still. Where leaves differ, so do all hashes above them: only leaves are told then.
 */
export async function compareTree(comparing: TreeComparison): Promise<TreeVerification> {
  const { live, fresh, found } = comparing
  const before = found.count
  const captured = await captureSize(live)
  if (captured === undefined)
    found.add({ where: 'tree', what: 'the size of the tree is not what its checkpoint says', do: REBUILD_REMEDY })
  else await fresh.foldTo(captured.position)
  if (captured !== undefined) await checkSize(comparing, captured.stored)
  const leaves = new LeafComparison(comparing)
  for await (const page of fresh.build.scan()) {
    const stored = new Map((await live.load(page.map(idOf))).map((one) => [idOf(one), one]))
    for (const wanted of page) {
      const id = idOf(wanted)
      if (id === SIZE_KEY) continue
      if (id < ROW_KEY_STRIDE) await leaves.compare(wanted.document, stored.get(id))
      else if (leaves.areSame) checkRow(wanted.document, stored.get(id), found)
      if (leaves.areShifted) break
    }
    if (leaves.areShifted) break
  }
  return { ...(await rootOf(fresh)), ok: found.count === before }
}

/** What the tree of the log itself is, whether or not there is one to compare it with. */
export async function rootOf({ model }: FreshModel): Promise<Omit<TreeVerification, 'ok'>> {
  const queries = new TreeQueries(model)
  const size = await queries.size()
  return { size, root: (await queries.root(size)).toString('base64') }
}

function checkRow(wanted: Document, stored: StoredDocument | undefined, found: Differences): void {
  const id = Number(wanted['id'])
  const where = `tree, row ${Math.floor(id / ROW_KEY_STRIDE)}, tile ${id % ROW_KEY_STRIDE}`
  if (stored === undefined) found.add({ where, what: 'is missing', do: REBUILD_REMEDY })
  else if (!isPrefixOfTile(wanted, stored))
    found.add({ where, what: 'is not the hash of the row below it', do: REBUILD_REMEDY })
}

const idOf = ({ document }: StoredDocument): number => Number(document['id'])
