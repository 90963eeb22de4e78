import { hashOfLeaf, leafEvent } from '../../evidence/leaf.ts'
import { isLeaf, keyOfTile } from '../../projections/tree/tree.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document, Stored } from '../../stores/ports/read-store.ts'
import { everyEvent } from '../../events/every-event.ts'
import { hashTexts, isContinued, REBUILD, type ComparingTree } from './tree-tiles.ts'

const REMEDY =
  'an event, or the tree, was changed behind the service: where the event is what was written, npx adamant rebuild tree; else npx adamant restore'

/** Compares the leaves of one tile after another, and says which event does not fit, and how. */
export class LeafComparison {
  areSame = true
  /** Events are missing or were put in: all that is behind them stands elsewhere, and is not told of. */
  areShifted = false

  constructor(private readonly comparing: ComparingTree) {}

  /** @param wanted of the log */
  async compare(wanted: Document, stored: Stored | undefined): Promise<void> {
    const { found } = this.comparing
    if (stored !== undefined && isContinued(wanted, stored)) return
    this.areSame = false
    const tile = Number(wanted['id'])
    const [log, tree] = [hashTexts(wanted), stored === undefined ? [] : hashTexts(stored.document)]
    const first = log.findIndex((hash, index) => hash !== tree[index])
    const where = `tree, row 0, tile ${tile}`
    if (stored === undefined || first < 0 || tree.length < log.length) {
      found.add({ where, what: stored === undefined ? 'is missing' : 'is not what the log makes', do: REBUILD })
    }
    if (stored !== undefined && first >= 0) await this.#tellLeaves(tile, first, log, tree)
  }

  async #tellLeaves(tile: number, first: number, log: readonly string[], tree: readonly string[]): Promise<void> {
    const behind = await this.#behind(tile)
    for (let index = first; index < Math.min(log.length, tree.length); index++) {
      if (log[index] === tree[index]) continue
      const inTree = [...tree.slice(index), ...behind.tree].indexOf(log[index] ?? '')
      const inLog = [...log.slice(index), ...behind.log].indexOf(tree[index] ?? '')
      await this.#tell(tile, log[index] ?? '', inTree, inLog)
      this.areShifted = inTree > 0 !== inLog > 0
      if (this.areShifted) return
    }
  }

  /** The tile behind this one, in the log and in the live tree. */
  async #behind(tile: number): Promise<{ readonly log: readonly string[]; readonly tree: readonly string[] }> {
    const key = keyOfTile({ row: 0, tile: tile + 1 })
    const [log] = await this.comparing.fresh.build.load([key])
    const [tree] = await this.comparing.live.load([key])
    return { log: log ? hashTexts(log.document) : [], tree: tree ? hashTexts(tree.document) : [] }
  }

  async #tell(tile: number, hash: string, inTree: number, inLog: number): Promise<void> {
    const { found } = this.comparing
    const event = found.hasRoom ? await this.#eventOf(tile, hash) : undefined
    const where = event === undefined ? `tree, row 0, tile ${tile}` : `${event.stream}@${event.revision}`
    found.add({ where, what: `${event?.type ?? 'an event'} ${whatOf(inTree, inLog)}`, do: REMEDY })
  }

  /** The event of the log whose leaf this is; it stands in this tile, and the tile before begins before it. */
  async #eventOf(tile: number, hash: string): Promise<StoredEvent | undefined> {
    const { fresh, store } = this.comparing
    const [before] = tile === 0 ? [] : await fresh.build.load([keyOfTile({ row: 0, tile: tile - 1 })])
    const commit = BigInt(Number(before?.document['commit'] ?? 0))
    const from = before === undefined ? 'start' : { commit, prepare: commit }
    for await (const event of everyEvent(store, from, () => undefined)) {
      if (isLeaf(event) && hashOfLeaf(leafEvent(event)).toString('base64') === hash) return event
    }
    return undefined
  }
}

function whatOf(inTree: number, inLog: number): string {
  if (inTree > 0 && inLog > 0) return 'does not stand where it was written: the order of the log was changed'
  if (inTree > 0) return `stands behind ${events(inTree)} fewer than when it was written: they are missing before it`
  if (inLog > 0) return `was not there when the log was written: ${events(inLog)} more stand here`
  return 'is not what was written'
}

const events = (number: number) => (number === 1 ? '1 event' : `${number} events`)
