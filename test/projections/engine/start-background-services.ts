import {
  openBackgroundServices,
  type BackgroundDeclarations,
  type ConsumerStores,
  type JobWaker,
} from '../../../src/projections/engine/background-services.ts'
import { neverAborted, type ScheduledJob } from '../../../src/projections/engine/loop.ts'
import type { ReactionHandler, Reaction } from '../../../src/projections/engine/reaction.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import type { ReadStore } from '../../../src/stores/ports/read-store.ts'

/** For reactions without a checkpoint in the read store. */
const NO_READ_STORE = {} as ReadStore

/** Starts reactions and scheduled jobs as the service does. @returns a function that stops them */
export async function startBackgroundServices<Tools>(
  { reactions = [], scheduledJobs = [] }: Partial<BackgroundDeclarations<Tools>>,
  toolsWith: (wakes: JobWaker) => Tools,
  { store, reads = NO_READ_STORE }: { readonly store: EventStore; readonly reads?: ReadStore },
): Promise<() => Promise<void>> {
  const stores: ConsumerStores = { store, reads, log: createLogger('silent') }
  const work = await openBackgroundServices({ reactions, scheduledJobs }, toolsWith, stores)
  await Promise.all(work.map((each) => each.start()))
  return async () => void (await Promise.all(work.map((each) => each.stop())))
}

/** Runs one round of each job concurrently. @throws the first failure */
export async function runOneRound<Tools>(jobs: readonly ScheduledJob<Tools>[], tools: Tools): Promise<void> {
  const outcomes = await Promise.allSettled(jobs.map((job) => job.createRound(tools)(neverAborted())))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

/** The handler of a reaction, without its consumer. */
export function handlerOf<Tools>(declared: Reaction<Tools>, tools: Tools): ReactionHandler {
  if ('createHandler' in declared) return declared.createHandler(tools)
  throw new Error(`${declared.name} keeps its checkpoint itself`)
}
