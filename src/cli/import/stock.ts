import { finishBulk } from '../../commands/bulk/handle-bulk.ts'
import { diamondIdOfStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import type { DiamondFieldChanges } from '../../domain/diamond/fields.ts'
import { visibleText } from '../../domain/visible-text.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import { WrongRevision, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { CommandContext } from '../../commands/core/handle.ts'
import { note, noteSkippedEvent } from '../output.ts'

/** What an account has, by what an import asks for. */
export type Stock = {
  /** The stones with a sku, mostly one. */
  bySku(sku: string): readonly number[]
  /** All of them, in the order in which they were made. */
  readonly skus: ReadonlyMap<number, string>
  /** Of those, the ones that have what no file of stones holds: a certification, or a 3D model. */
  readonly idsWithAttachments: ReadonlySet<number>
  /** The cut shapes that any of them ever had and no dictionary knows. */
  readonly customShapes: ReadonlySet<string>
}

/**
 * The stones of an account as the log has them, whether a service runs and has come so far or not.
 * @throws StoreUnavailable
 */
export const readStock = async (store: EventStore, owner: number): Promise<Stock> => (await read(store, owner)).stock

/** Likewise, where what was accepted and not finished by a process that was killed is finished first: it would come afterwards. */
export async function readSettledStock(writing: CommandContext, owner: number): Promise<Stock> {
  const tried = new Set<string>()
  for (;;) {
    const { stock, begun } = await read(writing.store, owner)
    const left = [...begun].filter((stream) => !tried.has(stream))
    if (left.length === 0) return stock
    for (const stream of left) await finishPendingBulk(writing, stream, tried)
  }
}

/** @returns the stones, and the requests that were accepted and are not done */
async function read(store: EventStore, owner: number): Promise<{ stock: Stock; begun: ReadonlySet<string> }> {
  const stones = new StockProjection(owner)
  const begun = new Set<string>()
  for await (const event of store.readAll('start', { prefixes: ['diamond-', 'request-'] })) {
    if (event.type === 'RequestAccepted') begun.add(event.stream)
    else if (event.type === 'RequestDone') begun.delete(event.stream)
    else stones.apply(event)
  }
  return { stock: stones.toStock(), begun }
}

/** One that can't be finished is whoever's it is, and the service's to report. */
async function finishPendingBulk(writing: CommandContext, stream: string, tried: Set<string>): Promise<void> {
  tried.add(stream)
  try {
    await finishBulk(writing, stream)
  } catch (error) {
    if (!isDecodeError(error) && !(error instanceof WrongRevision)) throw error
    note(`${stream} was begun and can not be finished: ${error.message}`)
  }
}

/** Folds no more of the diamonds than it takes. */
class StockProjection {
  readonly #skus = new Map<number, string>()
  /** Certifications and models of a stone. */
  readonly #attached = new Map<number, number>()
  readonly #customShapes = new Set<string>()

  constructor(private readonly owner: number) {}

  apply(stored: StoredEvent): void {
    const id = diamondIdOfStream(stored.stream)
    if (stored.type !== 'DiamondCreated' && !this.#skus.has(id)) return
    try {
      this.#fold(id, decode<DiamondEvent>(stored))
    } catch (error) {
      if (!isDecodeError(error)) throw error
      noteSkippedEvent(stored.stream, error)
    }
  }

  #fold(id: number, { type, data }: DiamondEvent): void {
    const attached = this.#attached.get(id) ?? 0
    switch (type) {
      case 'DiamondCreated':
        if (data.owner === this.owner) this.#set(id, data.set)
        break
      case 'DiamondPatched':
        this.#set(id, data.set)
        break
      case 'CertificationAttached':
      case 'StoneModelAttached':
        this.#attached.set(id, attached + 1)
        break
      case 'CertificationRemoved':
      case 'StoneModelRemoved':
        this.#attached.set(id, attached - 1)
        break
      case 'DiamondDeleted':
        this.#skus.delete(id)
        this.#attached.delete(id)
        break
      default:
    }
  }

  #set(id: number, { sku, cutShape }: DiamondFieldChanges['set']): void {
    if (sku !== undefined) this.#skus.set(id, visibleText(sku))
    if (typeof cutShape === 'string') this.#customShapes.add(cutShape)
  }

  toStock(): Stock {
    const single = new Map<string, number>()
    const several = new Map<string, number[]>()
    for (const [id, sku] of this.#skus) {
      const first = single.get(sku)
      if (first === undefined) single.set(sku, id)
      else if (several.get(sku)?.push(id) === undefined) several.set(sku, [first, id])
    }
    const bySku = (sku: string) => several.get(sku) ?? [single.get(sku)].filter((id) => id !== undefined)
    const enriched = [...this.#attached].filter(([, number]) => number > 0).map(([id]) => id)
    return { bySku, skus: this.#skus, idsWithAttachments: new Set(enriched), customShapes: this.#customShapes }
  }
}
