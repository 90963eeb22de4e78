import { retriesStream } from '../../domain/installation/retry.ts'
import type { Log } from '../../runtime/log.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Build, Checkpoint, ModelDeclaration, ReadStore } from '../../stores/ports/read-store.ts'
import { belongs } from './belongs.ts'
import { CheckpointWriter } from './checkpoint-writer.ts'
import { KeptRunning, type RunFigures } from './keep-trying.ts'
import { lineOf } from './log-line.ts'
import { OwnProgress } from './progress.ts'
import { reactTo } from './react-batch.ts'

/**
 * Something that is done because of events: scoring, mailing, deleting. It has a checkpoint of its own and is no part
 * of any rebuild. After a crash the events since the checkpoint come again, so doing it twice must be as good as once.
 */
export type Reaction = {
  /** Lower-case; its checkpoint is kept under it. */
  readonly name: string
  readonly prefixes: readonly string[]
  /**
   * In the order of the log. A rejection is tried again for ever, with the same events: that is for what a store or
   * the process is to blame for. What can't be done for one stream, now or later, is no reason for others to wait.
   * @param signal aborted when this run is to stop: a wait ends by a rejection, and what it waited for is taken up by
   *   the next run, in this process or another one
   * @returns events that could not be acted on, for an operator to see and to have tried again
   */
  readonly react: (events: readonly StoredEvent[], signal?: AbortSignal) => Promise<readonly SetAside[] | void>
}

/** An event that a reaction could not act on, with what was thrown. */
export type SetAside = { readonly event: StoredEvent; readonly error: unknown }

/** A reaction keeps no documents: only how far it has come, and what it has set aside. */
export const checkpointOf = (name: string): ModelDeclaration => ({
  name,
  version: 1,
  fields: { id: 'integer' },
  texts: [],
  indexes: [],
  counts: [],
})

/** Runs one reaction in one process at a time; see ActiveRunner. */
export class ReactionRunner {
  readonly declaration: ModelDeclaration
  readonly progress = new OwnProgress()
  readonly #running: KeptRunning

  constructor(
    private readonly reaction: Reaction,
    private readonly store: EventStore,
    private readonly reads: ReadStore,
    private readonly log: Log,
  ) {
    this.declaration = checkpointOf(reaction.name)
    this.#running = new KeptRunning(reaction.name, log, (signal) => this.#follow(signal))
  }

  start(): void {
    this.#running.start()
  }

  get figures(): RunFigures {
    return this.#running.figures
  }

  /** Ends after the batch under way, or without it where that takes long. */
  async stop(): Promise<void> {
    await this.#running.stop()
  }

  /** Another log's checkpoint says nothing about this one: everything is gone through again, which changes nothing. */
  async #openBuild(): Promise<Build> {
    const live = await this.reads.live(this.declaration)
    const checkpoint = await live.checkpoint()
    if (checkpoint === undefined || (await belongs(this.store, checkpoint))) return live
    const fresh = await this.reads.begin(this.declaration)
    try {
      await this.reads.promote(this.declaration, fresh)
      return fresh
    } catch (error) {
      await this.reads.drop(this.declaration, fresh)
      throw error
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const build = await this.#openBuild()
    const log = await lineOf(this.store)
    const checkpoint = await build.checkpoint()
    let event: Checkpoint['event'] = checkpoint?.event ?? null
    const checkpoints = new CheckpointWriter(build, this.store, this.log)
    const retries = retriesStream(this.reaction.name)
    const reacting = { reaction: this.reaction, store: this.store, build, log: this.log, signal }
    const prefixes = [...this.reaction.prefixes, retries]
    const subscription = this.store.subscribe(checkpoint?.position ?? 'start', { prefixes })
    const stop = () => subscription.stop()
    signal.addEventListener('abort', stop, { once: true })
    this.progress.advance(checkpoint?.position ?? 'start')
    try {
      signal.throwIfAborted()
      for await (const { events, position } of subscription) {
        const letters = await reactTo(reacting, events, retries)
        const last = events.at(-1)
        if (last !== undefined) event = { id: last.id, position: last.position }
        if (letters.length > 0) await checkpoints.write([], { position, log, event }, letters)
        else checkpoints.later({ position, log, event })
        this.progress.advance(position)
        if (signal.aborted) return
      }
    } finally {
      subscription.stop()
      await checkpoints.flush()
    }
  }
}
