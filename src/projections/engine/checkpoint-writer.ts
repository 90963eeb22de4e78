import type { Log } from '../../runtime/log.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Build, Checkpoint, DeadLetter, Write } from '../../stores/ports/read-store.ts'
import { anchored } from './checkpoint.ts'

/**
 * Milliseconds that a checkpoint may wait which only says that nothing of what was read had to be written: until no other
 * one has come for so long, and where they keep coming, no longer than that. Each write is a transaction, and under load
 * every batch of events would otherwise cost one in each model that it does not concern.
 */
const QUIET = 50
const LONGEST = 450

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
    private readonly build: Build,
    private readonly store: Pick<EventStore, 'eventAt'>,
    private readonly log: Log,
  ) {}

  /** @throws what the store says; nothing is written then */
  async write(writes: readonly Write[], checkpoint: Checkpoint, letters: readonly DeadLetter[] = []): Promise<void> {
    this.#forget()
    await this.#flushing
    await this.build.write(writes, await anchored(this.store, checkpoint), letters)
  }

  /** Writes the checkpoint within half a second, 50 ms where nothing more comes, or a later one in its place. */
  later(checkpoint: Checkpoint): void {
    const now = performance.now()
    if (this.#waiting === undefined) this.#since = now
    this.#waiting = checkpoint
    this.#timer ??= setTimeout(() => void this.flush(), QUIET)
    if (now - this.#since < LONGEST) this.#timer.refresh()
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
    await this.build.write([], await anchored(this.store, checkpoint))
  }

  #forget(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting = undefined
  }
}
