import type { AppLogger } from '../../runtime/logger.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { ReadModel, ReadStore } from '../../stores/ports/read-store.ts'
import { ActiveRunner } from './active-runner.ts'
import { Loop, type LoopBody, type ScheduledJob, type RunCounters } from './loop.ts'
import { openGuardedReadModel } from './guarded-read-model.ts'
import type { WaitBudget } from './progress.ts'
import { ReactionConsumer, toSelfCheckpointedConsumer } from './reaction-consumer.ts'
import {
  checkpointModelOf,
  type SelfCheckpointedHandler,
  type ReactionHandler,
  type ReactionSubscription,
  type Reaction,
} from './reaction.ts'
import { ReadModelConsumer } from './read-model-consumer.ts'
import type { AnyProjection } from './read-model.ts'
import { ConsumerRunner } from './runner.ts'

export type ConsumerStores = { readonly store: EventStore; readonly reads: ReadStore; readonly log: AppLogger }

/** A background task of the process. It can be started again after a stop. */
export type BackgroundService = {
  readonly name: string
  /** Resolves when it runs, here or in another process. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Whether this process runs it now. */
  isActive(): boolean
  /** Whether this log can never give it work; known after `start`. */
  isNotNeeded?(): boolean
  counters(): readonly RunCounters[]
}

/** A read model that this or another process projects. */
export type OpenReadModel = BackgroundService & {
  readonly model: ReadModel
  readonly progress: ActiveRunner
  /**
   * Whether it has everything written before the call; waits for that within the request's budget.
   * @throws StoreUnavailable
   */
  isCurrent(budget: WaitBudget): Promise<boolean>
}

export type ReadModelRegistry = { readModel(projection: Pick<AnyProjection, 'declaration'>): OpenReadModel }

/** Events that a process with requests folds and writes in one turn of the event loop: some milliseconds. */
export const EVENTS_PER_TURN = 100

export async function openReadModelService(projection: AnyProjection, stores: ConsumerStores): Promise<OpenReadModel> {
  const { store, reads, log } = stores
  const { declaration } = projection
  const model = await openGuardedReadModel(reads, store, declaration)
  const consumer = new ReadModelConsumer(projection, store, reads, log, EVENTS_PER_TURN)
  const runner = new ConsumerRunner(consumer, store, log)
  const progress = new ActiveRunner(runner, declaration, reads, model, log)
  return {
    ...toService(declaration.name, progress),
    model,
    progress,
    async isCurrent(budget) {
      const head = await store.head()
      return budget.spendOn((ms) => progress.waitForPosition(head, ms))
    },
  }
}

export type JobWaker = {
  /** Starts the next round of a scheduled job now. */
  readonly wake: (job: string) => void
}

export type BackgroundDeclarations<Tools> = {
  readonly reactions: readonly Reaction<Tools>[]
  readonly scheduledJobs: readonly ScheduledJob<Tools>[]
}

/** Opens reactions and scheduled jobs with their tools; starts nothing. */
export async function openBackgroundServices<Tools>(
  { reactions, scheduledJobs }: BackgroundDeclarations<Tools>,
  createTools: (waker: JobWaker) => Tools,
  stores: ConsumerStores,
): Promise<readonly BackgroundService[]> {
  const wakesByName = new Map<string, () => void>()
  const tools = createTools({ wake: (name) => wakesByName.get(name)?.() })
  const jobServices = scheduledJobs.map((job) => openScheduledJob(job, tools, stores.log))
  for (const { name, wake } of jobServices) wakesByName.set(name, wake)
  const reactionServices: BackgroundService[] = []
  for (const reaction of reactions) reactionServices.push(await openReaction(reaction, tools, stores))
  return [...reactionServices, ...jobServices]
}

/** Under a lease, unless the reaction stores its own checkpoint. */
async function openReaction<Tools>(
  reaction: Reaction<Tools>,
  tools: Tools,
  stores: ConsumerStores,
): Promise<BackgroundService> {
  const service =
    'createSelfCheckpointedHandler' in reaction
      ? openInEveryProcess(reaction, reaction.createSelfCheckpointedHandler(tools), stores)
      : await openUnderLease(reaction, reaction.createHandler(tools), reaction.createCompanionTask?.(tools), stores)
  const { isNeeded = async () => true } = reaction
  let isNotNeeded = false
  return {
    ...service,
    async start() {
      isNotNeeded = !(await isNeeded(tools))
      if (!isNotNeeded) await service.start()
    },
    isNotNeeded: () => isNotNeeded,
  }
}

function openInEveryProcess(
  reaction: ReactionSubscription,
  handler: SelfCheckpointedHandler,
  { store, log }: ConsumerStores,
): BackgroundService {
  const runner = new ConsumerRunner(toSelfCheckpointedConsumer(reaction, handler, store), store, log)
  return {
    name: reaction.name,
    start: async () => runner.start(),
    stop: () => runner.stop(),
    isActive: () => true,
    counters: () => [runner.counters],
  }
}

async function openUnderLease(
  reaction: ReactionSubscription,
  handler: ReactionHandler,
  companionTask: LoopBody | undefined,
  stores: ConsumerStores,
): Promise<BackgroundService> {
  const { store, reads, log } = stores
  const declaration = checkpointModelOf(reaction.name)
  const consumerRunner = new ConsumerRunner(new ReactionConsumer(reaction, handler, stores), store, log)
  const runner =
    companionTask === undefined
      ? consumerRunner
      : combineRunners(consumerRunner, new Loop(`${reaction.name}-beside`, log, companionTask))
  return toService(reaction.name, new ActiveRunner(runner, declaration, reads, await reads.model(declaration), log))
}

const combineRunners = (
  runner: ConsumerRunner,
  loop: Loop,
): Pick<ConsumerRunner, 'start' | 'stop' | 'progress' | 'counters'> => ({
  progress: runner.progress,
  get counters() {
    return runner.counters
  },
  start() {
    runner.start()
    loop.start()
  },
  async stop() {
    await Promise.all([runner.stop(), loop.stop()])
  },
})

function openScheduledJob<Tools>(
  job: ScheduledJob<Tools>,
  tools: Tools,
  log: AppLogger,
): BackgroundService & { wake(this: void): void } {
  const { name, intervalMs, concurrency = 1, stopTimeoutMs, onStop } = job
  const options = stopTimeoutMs === undefined ? { intervalMs } : { intervalMs, stopTimeoutMs }
  const loops = Array.from({ length: concurrency }, () => new Loop(name, log, job.createRound(tools), options))
  return {
    name,
    start: async () => loops.forEach((loop) => loop.start()),
    wake: () => loops.forEach((loop) => loop.wake()),
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
      await onStop?.(tools)
    },
    isActive: () => true,
    counters: () => [loops.map(({ counters }) => counters).reduce(addCounters)],
  }
}

const addCounters = ({ name, runs, failures }: RunCounters, other: RunCounters): RunCounters => ({
  name,
  runs: runs + other.runs,
  failures: failures + other.failures,
})

const toService = (name: string, runner: ActiveRunner): BackgroundService => ({
  name,
  start: () => runner.start(),
  stop: () => runner.stop(),
  isActive: () => runner.isActive,
  counters: () => runner.counters,
})
