import { logLineage } from '../../events/lineage.ts'
import { retriesStream } from '../../domain/installation/installation.ts'
import type { Log } from '../../runtime/log.ts'
import {
  comparePositions,
  type Batch,
  type EventStore,
  type Position,
  type StoredEvent,
} from '../../stores/ports/event-store.ts'
import type { Build, Checkpoint, DeadLetter, ReadStore } from '../../stores/ports/read-store.ts'
import { anchored, buildOfLog, CheckpointWriter, newestIn } from './checkpoint.ts'
import { letter, retriedStreams } from './dead-letter.ts'
import { handles, prefixesOf } from './follow.ts'
import { checkpointOf, type OwnKeeping, type React, type Reacting } from './reaction.ts'
import type { Kept, Run } from './runner.ts'

/** Keeps how far a reaction has come, and what it has set aside, with the read models. */
export class CheckpointedReaction implements Kept {
  readonly name: string
  readonly prefixes: readonly string[]

  readonly #store: EventStore
  readonly #reads: ReadStore
  readonly #log: Log

  constructor(
    private readonly declared: Reacting,
    private readonly react: React,
    { store, reads, log }: { readonly store: EventStore; readonly reads: ReadStore; readonly log: Log },
  ) {
    this.#store = store
    this.#reads = reads
    this.#log = log
    this.name = declared.name
    this.prefixes = prefixesOf(declared.name, declared)
  }

  async begin(signal: AbortSignal): Promise<Run> {
    const store = this.#store
    const build = await buildOfLog(this.#reads, store, checkpointOf(this.name))
    const line = await logLineage(store)
    const last = await build.checkpoint()
    const from = last?.position ?? 'start'
    const checkpoints = new CheckpointWriter(build, store, this.#log)
    let event: Checkpoint['event'] = last?.event ?? null
    return {
      from,
      take: async (batch: Batch) => {
        const letters = await this.#reactTo(batch.events, build, signal)
        event = newestIn(batch) ?? event
        const checkpoint = { position: batch.position, log: line, event }
        if (letters.length > 0) await checkpoints.write([], checkpoint, letters, [])
        else checkpoints.later(checkpoint)
      },
      flush: () => checkpoints.flush(),
    }
  }

  /**
   * Goes through a batch; where an operator wants streams to be tried again, through all of their events.
   * @returns what was set aside
   * @throws what the reaction rejects with: then nothing of the batch counts as done
   */
  async #reactTo(events: readonly StoredEvent[], build: Build, signal: AbortSignal): Promise<DeadLetter[]> {
    const retries = retriesStream(this.name)
    let letters: DeadLetter[] = []
    let from = 0
    for (const [index, event] of events.entries()) {
      if (event.stream !== retries) continue
      letters.push(...(await this.#react(events.slice(from, index), signal)))
      const streams = retriedStreams(event, this.declared.follows, this.#log)
      const left = await this.#again(streams, event.position, build, signal)
      letters = [...letters.filter(({ stream }) => !streams.includes(stream)), ...left]
      from = index + 1
    }
    return [...letters, ...(await this.#react(from === 0 ? events : events.slice(from), signal))]
  }

  async #react(events: readonly StoredEvent[], signal: AbortSignal): Promise<DeadLetter[]> {
    const looked = events.filter((event) => handles(this.declared, event))
    if (looked.length === 0) return []
    const aside = (await this.react(looked, signal)) ?? []
    return aside.map(({ event, error }) => {
      const found = { err: error, name: this.name, stream: event.stream, event: event.id }
      this.#log.warn(found, 'an event could not be acted on: it is set aside')
      return letter(event, error)
    })
  }

  /** The letters go first: when this process ends before it is done, the request comes again. */
  async #again(streams: readonly string[], until: Position, build: Build, signal: AbortSignal): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = []
    for (const stream of streams) {
      await build.release(stream)
      const events = (await this.#store.read(stream)).filter(({ position }) => comparePositions(position, until) <= 0)
      letters.push(...(await this.#react(events, signal)))
    }
    return letters
  }
}

/** A reaction that keeps its checkpoint itself. */
export function selfKept(declared: Reacting, keeping: OwnKeeping, store: EventStore): Kept {
  return {
    name: declared.name,
    prefixes: declared.follows,
    async begin(): Promise<Run> {
      const log = await logLineage(store)
      const begun = await keeping.begin()
      let { event } = begun
      return {
        from: begun.position,
        async take(batch) {
          event = newestIn(batch) ?? event
          const checkpoint = { position: batch.position, log, event }
          const looked = batch.events.filter((found) => handles(declared, found))
          await keeping.take(looked, () => anchored(store, checkpoint))
        },
        flush: async () => undefined,
      }
    },
  }
}
