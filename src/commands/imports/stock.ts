import { finishBulk } from '../bulk/accepted-bulk.ts'
import { diamondIdOfStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import type { DiamondFieldChanges } from '../../domain/diamond/fields.ts'
import { visibleText } from '../../domain/visible-text.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import { WrongRevision, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { CommandContext } from '../core/command-context.ts'
import { indexStones, type KnownStock } from '../../trade-files/known-stones.ts'

/** The stones of an account, as far as an import needs them. */
export type Stock = KnownStock & {
  /** Skus by id, in order of creation. */
  readonly skus: ReadonlyMap<number, string>
  /** Stones with a report's PDF or a 3D model, which an import cannot restore. */
  readonly idsWithFiles: ReadonlySet<number>
}

/**
 * Reads the stones of an account from the event log, independently of the read models.
 * @param onSkippedEvent called for an event that cannot be decoded, which is left out
 * @throws StoreUnavailable
 */
export const readStock = async (store: EventStore, owner: number, onSkippedEvent: OnFault): Promise<Stock> =>
  (await readStockAndPending(store, owner, onSkippedEvent)).stock

type OnFault = (stream: string, error: Error) => void

/**
 * Like `readStock`, but first completes accepted bulk requests of killed processes, which would otherwise change the stones later.
 * @param onUnfinishedRequest called for one that cannot be completed: it may be another account's, and the service reports it
 */
export async function readSettledStock(
  context: CommandContext,
  owner: number,
  { onSkippedEvent, onUnfinishedRequest }: { onSkippedEvent: OnFault; onUnfinishedRequest: OnFault },
): Promise<Stock> {
  const attemptedStreams = new Set<string>()
  for (;;) {
    const { stock, pendingStreams } = await readStockAndPending(context.store, owner, onSkippedEvent)
    const remainingStreams = [...pendingStreams].filter((stream) => !attemptedStreams.has(stream))
    if (remainingStreams.length === 0) return stock
    for (const stream of remainingStreams) {
      attemptedStreams.add(stream)
      await finishBulk(context, stream).catch((error: unknown) => {
        if (!isDecodeError(error) && !(error instanceof WrongRevision)) throw error
        onUnfinishedRequest(stream, error)
      })
    }
  }
}

/** @returns the stones, and the streams of bulk requests that were accepted and not completed */
async function readStockAndPending(
  store: EventStore,
  owner: number,
  onSkippedEvent: OnFault,
): Promise<{ stock: Stock; pendingStreams: ReadonlySet<string> }> {
  const projection = new StockProjection(owner, onSkippedEvent)
  const pendingStreams = new Set<string>()
  for await (const event of store.readAll('start', { prefixes: ['diamond-', 'request-'] })) {
    if (event.type === 'RequestAccepted') pendingStreams.add(event.stream)
    else if (event.type === 'RequestDone') pendingStreams.delete(event.stream)
    else projection.apply(event)
  }
  return { stock: projection.toStock(), pendingStreams }
}

/** Folds only the parts of a diamond that an import needs. */
class StockProjection {
  readonly #skus = new Map<number, string>()
  /** Number of PDFs and 3D models by stone. */
  readonly #fileCounts = new Map<number, number>()
  readonly #customShapes = new Set<string>()

  constructor(
    private readonly owner: number,
    private readonly onSkippedEvent: OnFault,
  ) {}

  apply(stored: StoredEvent): void {
    const id = diamondIdOfStream(stored.stream)
    if (stored.type !== 'DiamondCreated' && !this.#skus.has(id)) return
    try {
      this.#fold(id, decode<DiamondEvent>(stored))
    } catch (error) {
      if (!isDecodeError(error)) throw error
      this.onSkippedEvent(stored.stream, error)
    }
  }

  #fold(id: number, { type, data }: DiamondEvent): void {
    const fileCount = this.#fileCounts.get(id) ?? 0
    switch (type) {
      case 'DiamondCreated':
        if (data.owner === this.owner) this.#set(id, data.set)
        break
      case 'DiamondPatched':
        this.#set(id, data.set)
        break
      case 'CertificationAttached':
        if (data.file !== null) this.#fileCounts.set(id, fileCount + 1)
        break
      case 'CertificationRemoved':
        if (data.digest !== null) this.#fileCounts.set(id, fileCount - 1)
        break
      case 'StoneModelAttached':
        this.#fileCounts.set(id, fileCount + 1)
        break
      case 'StoneModelRemoved':
        this.#fileCounts.set(id, fileCount - 1)
        break
      case 'DiamondDeleted':
        this.#skus.delete(id)
        this.#fileCounts.delete(id)
        break
      default:
    }
  }

  #set(id: number, { sku, cutShape }: DiamondFieldChanges['set']): void {
    if (sku !== undefined) this.#skus.set(id, visibleText(sku))
    if (typeof cutShape === 'string') this.#customShapes.add(cutShape)
  }

  toStock(): Stock {
    const idsWithFiles = [...this.#fileCounts].filter(([, number]) => number > 0).map(([id]) => id)
    return {
      ...indexStones({ skus: this.#skus, customShapes: this.#customShapes }),
      skus: this.#skus,
      idsWithFiles: new Set(idsWithFiles),
    }
  }
}
