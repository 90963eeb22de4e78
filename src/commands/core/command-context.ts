import type { EventStore } from '../../stores/ports/event-store.ts'
import type { AppendContext } from './append.ts'
import { CommandOutcomes } from './command-outcomes.ts'
import { StateCache } from './state-cache.ts'
import { StreamQueue } from './stream-queue.ts'

/** Shared by all commands of a process. */
export type CommandContext = AppendContext & {
  readonly queue: StreamQueue
  readonly stateCache: StateCache
  readonly outcomes: CommandOutcomes
  /** Milliseconds since 1970, UTC. */
  readonly clock: () => number
}

export const createCommandContext = (store: EventStore, clock: () => number): CommandContext => ({
  store,
  queue: new StreamQueue(),
  stateCache: new StateCache(),
  outcomes: new CommandOutcomes(),
  clock,
})
