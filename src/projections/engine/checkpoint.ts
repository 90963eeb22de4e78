import { logLineage } from '../../events/lineage.ts'
import { comparePositions, type SubscriptionBatch, type EventStore } from '../../stores/ports/event-store.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import {
  ReadModelLost,
  type ReadModelBuild,
  type Checkpoint,
  type DeadLetter,
  type ModelDeclaration,
  type ReadStore,
  type DocumentWrite,
} from '../../stores/ports/read-store.ts'

/**
 * Whether a checkpoint belongs to this log, in its current epoch, and the log still has the event that the checkpoint
 * names.
 */
export async function isCheckpointOfLog(
  store: EventStore,
  { log, event }: Pick<Checkpoint, 'log' | 'event'>,
): Promise<boolean> {
  if (log !== (await logLineage(store))) return false
  return event === null || (await store.eventAt(event.position))?.id === event.id
}

/**
 * Opens the build of a model that is not folded, such as a reaction's checkpoint. A build that was lost, of another log,
 * or of an epoch that was lost in a restore, is replaced by an empty one.
 * @throws StoreUnavailable
 */
export async function openBuildOfLog(
  reads: ReadStore,
  store: EventStore,
  declaration: ModelDeclaration,
): Promise<ReadModelBuild> {
  const live = await openLiveBuild(reads, declaration)
  if (live !== 'lost' && (live.checkpoint === undefined || (await isCheckpointOfLog(store, live.checkpoint))))
    return live.build
  const newBuild = await reads.begin(declaration)
  try {
    await reads.promote(declaration, newBuild)
    return newBuild
  } catch (error) {
    await reads.drop(declaration, newBuild)
    throw error
  }
}

/** The live build and its checkpoint; 'lost' if its file is damaged or was deleted. @throws StoreUnavailable */
export async function openLiveBuild(
  reads: ReadStore,
  declaration: ModelDeclaration,
): Promise<{ readonly build: ReadModelBuild; readonly checkpoint: Checkpoint | undefined } | 'lost'> {
  try {
    const build = await reads.live(declaration)
    return { build, checkpoint: await build.checkpoint() }
  } catch (error) {
    if (error instanceof ReadModelLost) return 'lost'
    throw error
  }
}

/** The newest event that a batch names, null if none. */
export function newestEventOf({
  events,
  last = events.at(-1),
}: Pick<SubscriptionBatch, 'events' | 'last'>): Checkpoint['event'] {
  return last === undefined ? null : { id: last.id, position: last.position }
}

/**
 * Makes a checkpoint name the event at exactly its position, whatever its stream. Otherwise a log restored to a point
 * between the last folded event and that position would still have the named event and differ after it.
 */
export async function anchorCheckpoint<Anchored extends Pick<Checkpoint, 'position' | 'event'>>(
  store: Pick<EventStore, 'eventAt'>,
  checkpoint: Anchored,
): Promise<Anchored> {
  const { position, event } = checkpoint
  if (position === 'start' || (event !== null && comparePositions(event.position, position) === 0)) return checkpoint
  const found = await store.eventAt(position)
  return found === undefined ? checkpoint : { ...checkpoint, event: { id: found.id, position: found.position } }
}

/**
 * Milliseconds that a checkpoint waits if its batch changed nothing: 50 after the last such checkpoint, at most 450
 * after the first. Each write is a transaction; without the delay, under load, every batch would cost one in each model
 * that it does not concern.
 */
const IDLE_DELAY_MS = 50
const MAX_DELAY_MS = 450

/**
 * Writes the changes of a batch immediately, together with its checkpoint. Most batches change nothing in most models:
 * their checkpoints are coalesced, since losing one costs only reading those events again.
 */
export class CheckpointWriter {
  #pending: Checkpoint | undefined
  #timer: NodeJS.Timeout | undefined
  /** When the first waiting checkpoint arrived: a time of performance.now(). */
  #pendingSince = 0
  #lastFlush: Promise<void> = Promise.resolve()
  #loss: ReadModelLost | undefined

  constructor(
    private readonly build: ReadModelBuild,
    private readonly store: Pick<EventStore, 'eventAt'>,
    private readonly log: AppLogger,
  ) {}

  /** @throws the store's error; nothing is written then */
  async write(
    writes: readonly DocumentWrite[],
    checkpoint: Checkpoint,
    deadLetters: readonly DeadLetter[],
    sequences: readonly DocumentWrite[],
  ): Promise<void> {
    this.#clearPending()
    await this.#lastFlush
    await this.build.write(writes, await anchorCheckpoint(this.store, checkpoint), deadLetters, sequences)
  }

  /**
   * Writes the checkpoint, or a later one instead, within half a second; after 50 ms if no other follows.
   * @throws ReadModelLost if that failed before because the build was lost: no later write can succeed
   */
  schedule(checkpoint: Checkpoint): void {
    if (this.#loss !== undefined) throw this.#loss
    const now = performance.now()
    if (this.#pending === undefined) this.#pendingSince = now
    this.#pending = checkpoint
    this.#timer ??= setTimeout(() => void this.flush(), IDLE_DELAY_MS)
    if (now - this.#pendingSince < MAX_DELAY_MS) this.#timer.refresh()
  }

  /** Writes the waiting checkpoint now. Never rejects: a store's error is left to the next write. */
  flush(): Promise<void> {
    const checkpoint = this.#pending
    this.#clearPending()
    if (checkpoint === undefined) return this.#lastFlush
    this.#lastFlush = this.#write(checkpoint).catch((error: unknown) => {
      if (error instanceof ReadModelLost) this.#loss = error
      this.log.debug({ err: error }, 'a checkpoint could not be written; the next one covers it')
    })
    return this.#lastFlush
  }

  async #write(checkpoint: Checkpoint): Promise<void> {
    await this.build.write([], await anchorCheckpoint(this.store, checkpoint))
  }

  #clearPending(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pending = undefined
  }
}
