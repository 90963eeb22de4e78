import { logLineage } from '../../events/lineage.ts'
import { retriesStream } from '../../domain/installation/installation.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import {
  comparePositions,
  type SubscriptionBatch,
  type EventStore,
  type Position,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { ReadModelBuild, Checkpoint, DeadLetter, ReadStore } from '../../stores/ports/read-store.ts'
import { anchorCheckpoint, openBuildOfLog, CheckpointWriter, newestEventOf } from './checkpoint.ts'
import { toDeadLetter, streamsToRetry } from './dead-letter.ts'
import { handles, prefixesOf } from './consume-batches.ts'
import {
  checkpointModelOf,
  type SelfCheckpointedHandler,
  type ReactionHandler,
  type ReactionSubscription,
} from './reaction.ts'
import type { EventConsumer, ConsumerRun } from './runner.ts'

/** Runs a reaction and stores its checkpoint and dead letters with the read models. */
export class ReactionConsumer implements EventConsumer {
  readonly name: string
  readonly prefixes: readonly string[]

  readonly #store: EventStore
  readonly #reads: ReadStore
  readonly #log: AppLogger

  constructor(
    private readonly reaction: ReactionSubscription,
    private readonly handler: ReactionHandler,
    { store, reads, log }: { readonly store: EventStore; readonly reads: ReadStore; readonly log: AppLogger },
  ) {
    this.#store = store
    this.#reads = reads
    this.#log = log
    this.name = reaction.name
    this.prefixes = prefixesOf(reaction.name, reaction)
  }

  async beginRun(signal: AbortSignal): Promise<ConsumerRun> {
    const store = this.#store
    const build = await openBuildOfLog(this.#reads, store, checkpointModelOf(this.name))
    const lineage = await logLineage(store)
    const lastCheckpoint = await build.checkpoint()
    const from = lastCheckpoint?.position ?? 'start'
    const checkpoints = new CheckpointWriter(build, store, this.#log)
    let event: Checkpoint['event'] = lastCheckpoint?.event ?? null
    return {
      from,
      handleBatch: async (batch: SubscriptionBatch) => {
        const deadLetters = await this.#reactTo(batch.events, build, signal)
        event = newestEventOf(batch) ?? event
        const checkpoint = { position: batch.position, log: lineage, event }
        if (deadLetters.length > 0) await checkpoints.write([], checkpoint, deadLetters, [])
        else checkpoints.schedule(checkpoint)
      },
      flush: () => checkpoints.flush(),
    }
  }

  /**
   * Handles a batch. For a request to retry streams, handles all events of those streams again.
   * @returns dead letters
   * @throws the reaction's rejection: nothing of the batch counts as handled then
   */
  async #reactTo(events: readonly StoredEvent[], build: ReadModelBuild, signal: AbortSignal): Promise<DeadLetter[]> {
    const retryStream = retriesStream(this.name)
    let deadLetters: DeadLetter[] = []
    let from = 0
    for (const [index, event] of events.entries()) {
      if (event.stream !== retryStream) continue
      deadLetters.push(...(await this.#handleEvents(events.slice(from, index), signal)))
      const streams = streamsToRetry(event, this.reaction.streamPrefixes, this.#log)
      const newDeadLetters = await this.#retryStreams(streams, event.position, build, signal)
      deadLetters = [...deadLetters.filter(({ stream }) => !streams.includes(stream)), ...newDeadLetters]
      from = index + 1
    }
    return [...deadLetters, ...(await this.#handleEvents(from === 0 ? events : events.slice(from), signal))]
  }

  async #handleEvents(events: readonly StoredEvent[], signal: AbortSignal): Promise<DeadLetter[]> {
    const matchingEvents = events.filter((event) => handles(this.reaction, event))
    if (matchingEvents.length === 0) return []
    const poisonEvents = (await this.handler(matchingEvents, signal)) ?? []
    return poisonEvents.map(({ event, error }) => {
      const details = { err: error, name: this.name, stream: event.stream, event: event.id }
      this.#log.warn(details, 'an event could not be handled: it becomes a dead letter')
      return toDeadLetter(event, error)
    })
  }

  /** Deletes the dead letters first: if this process ends midway, the retry request is delivered again. */
  async #retryStreams(
    streams: readonly string[],
    until: Position,
    build: ReadModelBuild,
    signal: AbortSignal,
  ): Promise<DeadLetter[]> {
    const deadLetters: DeadLetter[] = []
    for (const stream of streams) {
      await build.unpark(stream)
      const events = (await this.#store.readStream(stream)).filter(
        ({ position }) => comparePositions(position, until) <= 0,
      )
      deadLetters.push(...(await this.#handleEvents(events, signal)))
    }
    return deadLetters
  }
}

export function toSelfCheckpointedConsumer(
  reaction: ReactionSubscription,
  handler: SelfCheckpointedHandler,
  store: EventStore,
): EventConsumer {
  return {
    name: reaction.name,
    prefixes: reaction.streamPrefixes,
    async beginRun(): Promise<ConsumerRun> {
      const lineage = await logLineage(store)
      const lastCheckpoint = await handler.loadCheckpoint()
      let { event } = lastCheckpoint
      return {
        from: lastCheckpoint.position,
        async handleBatch(batch) {
          event = newestEventOf(batch) ?? event
          const checkpoint = { position: batch.position, log: lineage, event }
          const matchingEvents = batch.events.filter((candidate) => handles(reaction, candidate))
          await handler.handleBatch(matchingEvents, () => anchorCheckpoint(store, checkpoint))
        },
        flush: async () => undefined,
      }
    },
  }
}
