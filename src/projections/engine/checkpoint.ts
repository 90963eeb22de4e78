import { logLineage } from '../../events/lineage.ts'
import { comparePositions, type SubscriptionBatch, type EventStore } from '../../stores/ports/event-store.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import type {
  ReadModelBuild,
  Checkpoint,
  DeadLetter,
  ModelDeclaration,
  ReadStore,
  DocumentWrite,
} from '../../stores/ports/read-store.ts'

/** A checkpoint is worth something only where the log at hand is its log, in the same epoch, and holds the very event that it names. */
export async function isCheckpointOfLog(
  store: EventStore,
  { log, event }: Pick<Checkpoint, 'log' | 'event'>,
): Promise<boolean> {
  if (log !== (await logLineage(store))) return false
  return event === null || (await store.eventAt(event.position))?.id === event.id
}

/**
 * The build of what is kept with the read models and not folded, such as how far a reaction has come. What was kept for another
 * log, or in an epoch that is lost, is worth nothing: an empty build takes its place.
 * @throws StoreUnavailable
 */
export async function openBuildOfLog(
  reads: ReadStore,
  store: EventStore,
  declaration: ModelDeclaration,
): Promise<ReadModelBuild> {
  const live = await reads.live(declaration)
  const checkpoint = await live.checkpoint()
  if (checkpoint === undefined || (await isCheckpointOfLog(store, checkpoint))) return live
  const fresh = await reads.begin(declaration)
  try {
    await reads.promote(declaration, fresh)
    return fresh
  } catch (error) {
    await reads.drop(declaration, fresh)
    throw error
  }
}

/** The newest event that a batch names, which is the one at its position where the log had that at hand. */
export function newestEventOf({
  events,
  last = events.at(-1),
}: Pick<SubscriptionBatch, 'events' | 'last'>): Checkpoint['event'] {
  return last === undefined ? null : { id: last.id, position: last.position }
}

/**
 * The checkpoint with the event at its very position, of whatever stream: a log that was restored to somewhere between
 * the last event that was folded and the position would hold the one and have other events up to the other.
 */
export async function anchorCheckpoint<Known extends Pick<Checkpoint, 'position' | 'event'>>(
  store: Pick<EventStore, 'eventAt'>,
  checkpoint: Known,
): Promise<Known> {
  const { position, event } = checkpoint
  if (position === 'start' || (event !== null && comparePositions(event.position, position) === 0)) return checkpoint
  const found = await store.eventAt(position)
  return found === undefined ? checkpoint : { ...checkpoint, event: { id: found.id, position: found.position } }
}

/**
 * Milliseconds that a checkpoint may wait which only says that nothing of what was read had to be written: until no other
 * one has come for so long, and where they keep coming, no longer than that. Each write is a transaction, and under load
 * every batch of events would otherwise cost one in each model that it does not concern.
 */
const IDLE_DELAY_MS = 50
const MAX_DELAY_MS = 450

/**
 * Writes what a batch changed at once, together with its checkpoint. Most batches change nothing in most models: their
 * checkpoints wait for each other, since one that is lost costs no more than reading those events again.
 */
export class CheckpointWriter {
  #waiting: Checkpoint | undefined
  #timer: NodeJS.Timeout | undefined
  /** When the first of those that wait came. */
  #since = 0
  #flushing: Promise<void> = Promise.resolve()

  constructor(
    private readonly build: ReadModelBuild,
    private readonly store: Pick<EventStore, 'eventAt'>,
    private readonly log: AppLogger,
  ) {}

  /** @throws what the store says; nothing is written then */
  async write(
    writes: readonly DocumentWrite[],
    checkpoint: Checkpoint,
    letters: readonly DeadLetter[],
    sequences: readonly DocumentWrite[],
  ): Promise<void> {
    this.#forget()
    await this.#flushing
    await this.build.write(writes, await anchorCheckpoint(this.store, checkpoint), letters, sequences)
  }

  /** Writes the checkpoint within half a second, 50 ms where nothing more comes, or a later one in its place. */
  schedule(checkpoint: Checkpoint): void {
    const now = performance.now()
    if (this.#waiting === undefined) this.#since = now
    this.#waiting = checkpoint
    this.#timer ??= setTimeout(() => void this.flush(), IDLE_DELAY_MS)
    if (now - this.#since < MAX_DELAY_MS) this.#timer.refresh()
  }

  /** Writes now what waits. A store's fault is the next write's to tell. */
  flush(): Promise<void> {
    const checkpoint = this.#waiting
    this.#forget()
    if (checkpoint === undefined) return this.#flushing
    this.#flushing = this.#write(checkpoint).catch((error: unknown) => {
      this.log.debug({ err: error }, 'a checkpoint could not be written; the next one will be')
    })
    return this.#flushing
  }

  async #write(checkpoint: Checkpoint): Promise<void> {
    await this.build.write([], await anchorCheckpoint(this.store, checkpoint))
  }

  #forget(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting = undefined
  }
}
