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

/** The live Merkle tree and one built from the log. */
type TreeComparison = {
  readonly store: EventStore
  readonly live: ReadModelBuild
  readonly fresh: FreshModel
  readonly differences: Differences
}

/**
 * Compares the live Merkle tree with the log, leaf by leaf, up to its size at the start. Tiles only grow, so the service may write
 * meanwhile. If leaves differ, so do the hashes above them: only the leaves are reported then.
 */
export async function compareTree(comparison: TreeComparison): Promise<TreeVerification> {
  const { live, fresh, differences } = comparison
  const before = differences.count
  const captured = await captureSize(live)
  if (captured === undefined)
    differences.add({ where: 'tree', what: 'the size of the tree is not what its checkpoint says', do: REBUILD_REMEDY })
  else await fresh.foldTo(captured.position)
  if (captured !== undefined) await checkSize(comparison, captured.stored)
  const leaves = new LeafComparison(comparison)
  for await (const page of fresh.build.scan()) {
    const stored = new Map((await live.load(page.map(idOf))).map((one) => [idOf(one), one]))
    for (const expected of page) {
      const id = idOf(expected)
      if (id === SIZE_KEY) continue
      if (id < ROW_KEY_STRIDE) await leaves.compare(expected.document, stored.get(id))
      else if (leaves.areSame) checkRow(expected.document, stored.get(id), differences)
      if (leaves.areShifted) break
    }
    if (leaves.areShifted) break
  }
  return { ...(await rootOf(fresh)), ok: differences.count === before }
}

/** The size of the live tree with its checkpoint; undefined if they do not match after several attempts. */
async function captureSize(
  live: ReadModelBuild,
): Promise<{ position: PositionOrStart; stored: StoredDocument | undefined } | undefined> {
  const consistentRead = await readConsistent(
    live,
    async () => (await live.load([SIZE_KEY], 'acknowledged'))[0],
    (stored, position) => comparePositions((parseTilePositions(stored?.document) ?? [])[1] ?? 'start', position) <= 0,
  )
  return consistentRead && { position: consistentRead.position, stored: consistentRead.read }
}

/** Undefined if the positions are invalid. */
function parseTilePositions(document: Document | undefined): PositionOrStart[] | undefined {
  const text = String(document?.['places'] ?? '')
  try {
    const positions = parsePositions(text)
    return formatPositions(positions) === text ? positions : undefined
  } catch {
    return undefined
  }
}

/** If only the tree is wrong. */
const REBUILD_REMEDY = 'run adamant rebuild tree'

/** Compares the size, and the record of the last batch, with the log at the same checkpoint. */
async function checkSize(
  { store, fresh, differences }: TreeComparison,
  stored: StoredDocument | undefined,
): Promise<void> {
  const [expected] = await fresh.build.load([SIZE_KEY])
  const report = (what: string) => differences.add({ where: 'tree', what, do: REBUILD_REMEDY })
  if (stored === undefined || expected === undefined) {
    if (stored !== expected)
      report(stored === undefined ? 'the size of the tree is missing' : 'the tree has a size, but the log is empty')
    return
  }
  const { size, hashes: sizeBefore, commit } = stored.document
  if (size !== expected.document['size']) {
    report(`the size of the tree must be ${expected.document['size']} according to the log, but is ${size}`)
    return
  }
  const positions = parseTilePositions(stored.document)
  const [from = 'start', to = 'start'] = positions ?? []
  const isLast = formatPositions([to]) === formatPositions([parseTilePositions(expected.document)?.at(-1) ?? 'start'])
  let leafCount = 0
  for await (const event of readEveryEvent(store, from, () => undefined)) {
    if (comparePositions(event.position, to) > 0) break
    if (isLeaf(event)) leafCount++
  }
  if (positions?.length !== 2 || commit !== NO_EVENT || !isLast || String(Number(size) - leafCount) !== sizeBefore) {
    report('the record of the last batch of the tree differs from the log')
  }
}

/** Compares leaves tile by tile, and reports the events that do not match. */
class LeafComparison {
  areSame = true
  /** Whether events are missing or were inserted. All later leaves are shifted then and not reported. */
  areShifted = false

  constructor(private readonly comparison: TreeComparison) {}

  /** @param expected tile according to the log */
  async compare(expected: Document, stored: StoredDocument | undefined): Promise<void> {
    const { differences } = this.comparison
    if (stored !== undefined && isPrefixOfTile(expected, stored)) return
    this.areSame = false
    const tile = Number(expected['id'])
    const [log, tree] = [hashTexts(expected), stored === undefined ? [] : hashTexts(stored.document)]
    const firstDifference = log.findIndex((hash, index) => hash !== tree[index])
    const where = `tree, row 0, tile ${tile}`
    if (stored === undefined || firstDifference < 0 || tree.length < log.length) {
      differences.add({ where, what: stored === undefined ? 'is missing' : 'differs from the log', do: REBUILD_REMEDY })
    }
    if (stored !== undefined && firstDifference >= 0) await this.#reportLeaves(tile, firstDifference, log, tree)
  }

  async #reportLeaves(
    tile: number,
    firstDifference: number,
    log: readonly string[],
    tree: readonly string[],
  ): Promise<void> {
    const nextTile = await this.#loadNextTile(tile)
    for (let index = firstDifference; index < Math.min(log.length, tree.length); index++) {
      if (log[index] === tree[index]) continue
      const inTree = [...tree.slice(index), ...nextTile.tree].indexOf(log[index] ?? '')
      const inLog = [...log.slice(index), ...nextTile.log].indexOf(tree[index] ?? '')
      await this.#reportLeaf(tile, log[index] ?? '', inTree, inLog)
      this.areShifted = inTree > 0 !== inLog > 0
      if (this.areShifted) return
    }
  }

  /** The hashes of the next tile, according to the log and in the live tree. */
  async #loadNextTile(tile: number): Promise<{ readonly log: readonly string[]; readonly tree: readonly string[] }> {
    const key = keyOfTile({ row: 0, tile: tile + 1 })
    const [log] = await this.comparison.fresh.build.load([key])
    const [tree] = await this.comparison.live.load([key])
    return { log: log ? hashTexts(log.document) : [], tree: tree ? hashTexts(tree.document) : [] }
  }

  async #reportLeaf(tile: number, hash: string, inTree: number, inLog: number): Promise<void> {
    const { differences } = this.comparison
    const event = differences.canListMore ? await this.#findEvent(tile, hash) : undefined
    const where = event === undefined ? `tree, row 0, tile ${tile}` : `${event.stream}@${event.revision}`
    differences.add({
      where,
      what: `${event?.type ?? 'an event'} ${describeShift(inTree, inLog)}`,
      do: REBUILD_OR_RESTORE_REMEDY,
    })
  }

  /** The event with this leaf hash. Starts at the previous tile, since a tile stores the position of its first event only. */
  async #findEvent(tile: number, hash: string): Promise<StoredEvent | undefined> {
    const { fresh, store } = this.comparison
    const [previousTile] = tile === 0 ? [] : await fresh.build.load([keyOfTile({ row: 0, tile: tile - 1 })])
    const commit = BigInt(Number(previousTile?.document['commit'] ?? 0))
    const from = previousTile === undefined ? 'start' : { commit, prepare: commit }
    for await (const event of readEveryEvent(store, from, () => undefined)) {
      if (isLeaf(event) && hashLeafEvent(toLeafEvent(event)).toString('base64') === hash) return event
    }
    return undefined
  }
}

/** Whether a live tile starts with the expected hashes and is consistent; it may have more hashes. */
function isPrefixOfTile(expected: Document, { document, revision }: StoredDocument): boolean {
  const { length } = hashTexts(document)
  return (
    String(document['hashes']).startsWith(String(expected['hashes'])) &&
    document['commit'] === expected['commit'] &&
    document['places'] === expected['places'] &&
    document['size'] === length &&
    revision === BigInt(length) &&
    length <= TILE_WIDTH
  )
}

/** The hashes of a tile, in base64. */
function hashTexts({ hashes }: Document): string[] {
  const text = String(hashes)
  return Array.from({ length: Math.ceil(text.length / HASH_TEXT_LENGTH) }, (_, index) =>
    text.slice(index * HASH_TEXT_LENGTH, (index + 1) * HASH_TEXT_LENGTH),
  )
}

function describeShift(inTree: number, inLog: number): string {
  if (inTree > 0 && inLog > 0) return 'is not at its original position: the order of the log was changed'
  if (inTree > 0) return `is preceded by a gap: ${formatEventCount(inTree)} missing from the log`
  if (inLog > 0) return `was not written here: ${formatEventCount(inLog)} inserted into the log`
  return 'was altered'
}

const formatEventCount = (number: number) => (number === 1 ? '1 event' : `${number} events`)

const REBUILD_OR_RESTORE_REMEDY =
  'an event or the tree was altered outside of the service: if the event is intact, run adamant rebuild tree, else adamant restore'

const idOf = ({ document }: StoredDocument): number => Number(document['id'])

function checkRow(expected: Document, stored: StoredDocument | undefined, differences: Differences): void {
  const id = Number(expected['id'])
  const where = `tree, row ${Math.floor(id / ROW_KEY_STRIDE)}, tile ${id % ROW_KEY_STRIDE}`
  if (stored === undefined) differences.add({ where, what: 'is missing', do: REBUILD_REMEDY })
  else if (!isPrefixOfTile(expected, stored))
    differences.add({ where, what: 'does not match the row below it', do: REBUILD_REMEDY })
}

/** Size and root of the Merkle tree according to the log; `ok` if the live tree is the same. */
export type TreeVerification = { readonly size: number; readonly root: string; readonly ok: boolean }

/** Size and root of the tree according to the log. */
export async function rootOf({ model }: FreshModel): Promise<Omit<TreeVerification, 'ok'>> {
  const queries = new TreeQueries(model)
  const size = await queries.size()
  return { size, root: (await queries.root(size)).toString('base64') }
}
