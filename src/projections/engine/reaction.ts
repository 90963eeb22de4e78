import type { PositionOrStart, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Checkpoint, ModelDeclaration } from '../../stores/ports/read-store.ts'
import type { ConsumerFilter } from './consume-batches.ts'
import type { LoopBody } from './loop.ts'

/**
 * Something that is done because of events: scoring, reading, deleting. It is no part of any rebuild. After a crash the
 * events since the checkpoint come again, so doing it twice must be as good as once.
 */
export type Reaction<Tools> = ConsumerFilter & {
  /** Lower-case; its checkpoint, its dead letters and its counters are kept under it. */
  readonly name: string
  /** Where it can't have anything to do, it does not run; it may have unless told. */
  readonly isNeeded?: (tools: Tools) => Promise<boolean>
} & (
    | {
        /** Its checkpoint is kept with the read models, and one process runs it at a time. @param tools what it works with */
        readonly createHandler: (tools: Tools) => ReactionHandler
        /** Work of the same process that goes on for as long as it is the one, whether events come or not. */
        readonly createCompanionTask?: (tools: Tools) => LoopBody
      }
    | {
        /** It keeps a checkpoint of its own, or needs none, and every process runs it. */
        readonly createSelfCheckpointedHandler: (tools: Tools) => SelfCheckpointedHandler
      }
  )

/**
 * In the order of the log. A rejection is tried again for ever, with the same events: that is for what a store or the
 * process is to blame for. What can't be done for one stream, now or later, is no reason for others to wait.
 * @param signal aborted when this run is to stop: a wait ends by a rejection, and what it waited for is taken up by the
 *   next run, in this process or another one
 * @returns events that could not be acted on, for an operator to see and to have tried again
 */
export type ReactionHandler = (
  events: readonly StoredEvent[],
  signal?: AbortSignal,
) => Promise<readonly PoisonEvent[] | void>

/** An event that a reaction could not act on, with what was thrown. */
export type PoisonEvent = { readonly event: StoredEvent; readonly error: unknown }

/** A reaction that writes its checkpoint together with what it does. */
export type SelfCheckpointedHandler = {
  /** Where a run begins, and the last event that was acted on before it, if that is known. */
  loadCheckpoint(): Promise<{ readonly position: PositionOrStart; readonly event: Checkpoint['event'] }>
  /** Told of every batch, also where it holds nothing to look at. @param checkpoint behind the batch */
  handleBatch(events: readonly StoredEvent[], checkpoint: () => Promise<Checkpoint>): Promise<void>
}

/** The part of a declaration that says what is followed. */
export type ReactionSubscription = ConsumerFilter & { readonly name: string }

/** Declares what is done because of events. */
export const defineReaction = <Tools>(declared: Reaction<Tools>): Reaction<Tools> => declared

/** A reaction keeps no documents: only how far it has come, and what it has set aside. */
export const checkpointModelOf = (name: string): ModelDeclaration => ({
  name,
  version: 1,
  fields: { id: 'integer' },
  texts: [],
  indexes: [],
  counts: [],
})
