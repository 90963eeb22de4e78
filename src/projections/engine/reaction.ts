import type { PositionOrStart, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Checkpoint, ModelDeclaration } from '../../stores/ports/read-store.ts'
import type { ConsumerFilter } from './consume-batches.ts'
import type { LoopBody } from './loop.ts'

/**
 * A side effect of events, such as scoring or deleting files. Reactions are not part of a rebuild. Delivery is
 * at-least-once: after a crash the events since the checkpoint are delivered again, so handling must be idempotent.
 */
export type Reaction<Tools> = ConsumerFilter & {
  /** Lower-case; identifies its checkpoint, its dead letters and its counters. */
  readonly name: string
  /** Resolves false if this log can never give it work; it is then not started. Default: needed. */
  readonly isNeeded?: (tools: Tools) => Promise<boolean>
} & (
    | {
        /** Its checkpoint is stored with the read models; one process runs it at a time. */
        readonly createHandler: (tools: Tools) => ReactionHandler
        /** A loop that the same process runs while it holds the lease, independent of events. */
        readonly createCompanionTask?: (tools: Tools) => LoopBody
      }
    | {
        /** It stores its own checkpoint, or needs none; every process runs it. */
        readonly createSelfCheckpointedHandler: (tools: Tools) => SelfCheckpointedHandler
      }
  )

/**
 * Handles events in log order. A rejection means a fault of a store or the process, and the same events are retried
 * without limit. An event that can't be handled is returned as poison instead, so that it does not block other streams.
 * @param signal aborted when this run stops: waits reject, and the next run, here or in another process, handles the
 * events again
 * @returns the events that could not be handled, for an operator to inspect and retry
 */
export type ReactionHandler = (
  events: readonly StoredEvent[],
  signal?: AbortSignal,
) => Promise<readonly PoisonEvent[] | void>

export type PoisonEvent = { readonly event: StoredEvent; readonly error: unknown }

/** A reaction that stores its own checkpoint. */
export type SelfCheckpointedHandler = {
  /** The position where a run begins, and the last handled event before it, if known. */
  loadCheckpoint(): Promise<{ readonly position: PositionOrStart; readonly event: Checkpoint['event'] }>
  /** Called for every batch, also without matching events. @param checkpoint the one after the batch */
  handleBatch(events: readonly StoredEvent[], checkpoint: () => Promise<Checkpoint>): Promise<void>
}

export type ReactionSubscription = ConsumerFilter & { readonly name: string }

export const defineReaction = <Tools>(reaction: Reaction<Tools>): Reaction<Tools> => reaction

/** The model that stores a reaction's checkpoint and dead letters; it has no documents. */
export const checkpointModelOf = (name: string): ModelDeclaration => ({
  name,
  version: 1,
  fields: { id: 'integer' },
  texts: [],
  indexes: [],
  counts: [],
})
