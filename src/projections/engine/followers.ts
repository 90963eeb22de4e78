import type { Log } from '../../runtime/log.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { ReadModel, ReadStore } from '../../stores/ports/read-store.ts'
import { ActiveRunner } from './active-runner.ts'
import { Loop, type Round, type Routine, type RunFigures } from './loop.ts'
import { openReadModel } from './open-read-model.ts'
import type { Patience } from './progress.ts'
import { CheckpointedReaction, selfKept } from './reaction-runs.ts'
import { checkpointOf, type OwnKeeping, type React, type Reacting, type Reaction } from './reaction.ts'
import { ReadModelBuilds } from './read-model-builds.ts'
import type { AnyProjection } from './read-model.ts'
import { Runner } from './runner.ts'

/** What followers run on. */
export type Stores = { readonly store: EventStore; readonly reads: ReadStore; readonly log: Log }

/** Something that works by itself. It can be started again after a stop. */
export type Work = {
  readonly name: string
  /** Resolves when it runs, or others do. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Whether this process does it at this moment, and not another one. */
  isActive(): boolean
  /** Whether there is nothing to be done on this log, by anybody; known once it was started. */
  isIdle?(): boolean
  figures(): readonly RunFigures[]
}

/** A read model, kept by this process or another one. */
export type OpenReadModel = Work & {
  readonly model: ReadModel
  readonly progress: ActiveRunner
  /**
   * Whether it shows all that was written before the call: waits for that, as long as the request's patience lasts.
   * @throws StoreUnavailable
   */
  isCurrent(patience: Patience): Promise<boolean>
}

/** All read models, by their declarations. */
export type ReadModels = { readModel(projection: Pick<AnyProjection, 'declaration'>): OpenReadModel }

export async function openModel(projection: AnyProjection, stores: Stores): Promise<OpenReadModel> {
  const { store, reads, log } = stores
  const { declaration } = projection
  const model = await openReadModel(reads, store, declaration)
  const runner = new Runner(new ReadModelBuilds(projection, store, reads, log), store, log)
  const progress = new ActiveRunner(runner, declaration, reads, model, log)
  return {
    ...workOf(declaration.name, progress),
    model,
    progress,
    async isCurrent(patience) {
      const head = await store.head()
      return patience.during((ms) => progress.reached(head, ms))
    },
  }
}

/** What reactions and routines find among their tools besides their own. */
export type Wakes = {
  /** Lets a routine do its next round now. */
  readonly wake: (routine: string) => void
}

/** What is declared to be done by itself: because of events, and by the clock. */
export type Declared<Tools> = {
  readonly reactions: readonly Reaction<Tools>[]
  readonly routines: readonly Routine<Tools>[]
}

/** Reactions and routines with their tools; nothing is started. */
export async function openWork<Tools>(
  { reactions, routines }: Declared<Tools>,
  toolsWith: (wakes: Wakes) => Tools,
  stores: Stores,
): Promise<readonly Work[]> {
  const rounds = new Map<string, () => void>()
  const tools = toolsWith({ wake: (name) => rounds.get(name)?.() })
  const byClock = routines.map((routine) => openRoutine(routine, tools, stores.log))
  for (const { name, wake } of byClock) rounds.set(name, wake)
  const byEvents: Work[] = []
  for (const reaction of reactions) byEvents.push(await openReaction(reaction, tools, stores))
  return [...byEvents, ...byClock]
}

/** In one process at a time, unless it keeps its checkpoint itself. */
async function openReaction<Tools>(reaction: Reaction<Tools>, tools: Tools, stores: Stores): Promise<Work> {
  const work =
    'keeping' in reaction
      ? everywhere(reaction, reaction.keeping(tools), stores)
      : await byLease(reaction, reaction.reacting(tools), reaction.beside?.(tools), stores)
  const { isNeeded = async () => true } = reaction
  let idle = false
  return {
    ...work,
    async start() {
      idle = !(await isNeeded(tools))
      if (!idle) await work.start()
    },
    isIdle: () => idle,
  }
}

function everywhere(declared: Reacting, keeping: OwnKeeping, { store, log }: Stores): Work {
  const runner = new Runner(selfKept(declared, keeping, store), store, log)
  return {
    name: declared.name,
    start: async () => runner.start(),
    stop: () => runner.stop(),
    isActive: () => true,
    figures: () => [runner.figures],
  }
}

async function byLease(declared: Reacting, react: React, beside: Round | undefined, stores: Stores): Promise<Work> {
  const { store, reads, log } = stores
  const declaration = checkpointOf(declared.name)
  const follower = new Runner(new CheckpointedReaction(declared, react, stores), store, log)
  const runner = beside === undefined ? follower : together(follower, new Loop(`${declared.name}-beside`, log, beside))
  return workOf(declared.name, new ActiveRunner(runner, declaration, reads, await reads.model(declaration), log))
}

/** What runs while the lease is held: the runner, and the work beside it. */
const together = (runner: Runner, loop: Loop): Pick<Runner, 'start' | 'stop' | 'progress' | 'figures'> => ({
  progress: runner.progress,
  get figures() {
    return runner.figures
  },
  start() {
    runner.start()
    loop.start()
  },
  async stop() {
    await Promise.all([runner.stop(), loop.stop()])
  },
})

function openRoutine<Tools>(routine: Routine<Tools>, tools: Tools, log: Log): Work & { wake(this: void): void } {
  const { name, every, lanes = 1, patience, last } = routine
  const options = patience === undefined ? { every } : { every, stop: patience }
  const loops = Array.from({ length: lanes }, () => new Loop(name, log, routine.doing(tools), options))
  return {
    name,
    start: async () => loops.forEach((loop) => loop.start()),
    wake: () => loops.forEach((loop) => loop.wake()),
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
      await last?.(tools)
    },
    isActive: () => true,
    figures: () => [loops.map(({ figures }) => figures).reduce(added)],
  }
}

const added = ({ name, runs, failures }: RunFigures, other: RunFigures): RunFigures => ({
  name,
  runs: runs + other.runs,
  failures: failures + other.failures,
})

const workOf = (name: string, active: ActiveRunner): Work => ({
  name,
  start: () => active.start(),
  stop: () => active.stop(),
  isActive: () => active.active,
  figures: () => active.figures,
})
