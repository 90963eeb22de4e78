import { setTimeout as pause } from 'node:timers/promises'
import { Failed, shareOf, waitForLease, type Operation, type Reporter, type StepProgress } from './operation.ts'
import type { Told } from '../projections/engine/builds-beside.ts'
import type { Stores } from '../projections/engine/followers.ts'
import { ReadModelBuilds } from '../projections/engine/read-model-builds.ts'
import type { AnyProjection } from '../projections/engine/read-model.ts'
import { shareReads } from '../projections/engine/shared-read.ts'
import type { From } from '../stores/ports/event-store.ts'
import type { Lease, ModelDeclaration } from '../stores/ports/read-store.ts'

/** @param events that were folded by this run; seconds from its beginning to the switch */
export type Rebuilt = { readonly model: string; readonly events: number; readonly seconds: number }

export type RebuildOptions = Operation & {
  readonly told: Told
  /** How long to wait for another rebuild. */
  readonly patienceMs?: number
}

/** Milliseconds between two looks. */
const LOOK = 200
/** Milliseconds that the process which runs the projection has to switch to the new build; it checks once a second. */
const SWITCH = 60_000

/**
 * Fills a new build of a model up to the head of the log, and waits until the process that runs the projection has switched to
 * it: only that process knows which events it has reported as projected. If none runs, this process switches.
 * @throws Failed
 */
export async function rebuildModel(
  stores: Stores,
  projection: AnyProjection,
  { report, signal, told, patienceMs }: RebuildOptions,
): Promise<Rebuilt> {
  const started = performance.now()
  const { reads, store, log } = stores
  const { declaration } = projection
  const filling = { ...declaration, name: `${declaration.name}-rebuild` }
  const lease = await waitForLease(reads, filling, { signal, ...(patienceMs !== undefined && { patienceMs }) })
  if (lease === undefined) throw new Failed(`Another process is rebuilding ${declaration.name}`)
  const lost = new AbortController()
  void lease.lost.then(() => lost.abort(new Failed(`Another process rebuilds ${declaration.name} now`)))
  const both = AbortSignal.any([signal, lost.signal])
  let events = 0
  try {
    if ((await reads.filling(declaration)) !== undefined)
      report.note(`going on with the build of ${declaration.name} that an earlier rebuild began`)
    const builds = new ReadModelBuilds(projection, store, reads, log)
    const filled = await builds.beside.fill(both, (number, position) => {
      events += number
      told(number, position)
    })
    both.throwIfAborted()
    if (filled === undefined) throw new Failed(`The log ended before ${declaration.name} had caught up with it`)
    await switchTo(filled.id, builds, stores, declaration, both)
    return { model: declaration.name, events, seconds: (performance.now() - started) / 1000 }
  } finally {
    await lease.release()
  }
}

async function switchTo(
  id: string,
  builds: ReadModelBuilds,
  { reads }: Stores,
  declaration: ModelDeclaration,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + SWITCH
  while ((await reads.filling(declaration)) !== undefined) {
    signal.throwIfAborted()
    if (performance.now() > until)
      throw new Failed(
        `The service did not switch to the new build of ${declaration.name}, which stays: see its log, and rebuild again`,
      )
    const lease = await reads.lease(declaration)
    if (lease === undefined) await pause(LOOK)
    else await takeOver(lease, builds, signal)
  }
  if ((await reads.live(declaration)).id !== id)
    throw new Failed(`The new build of ${declaration.name} was given up by another process; rebuild again`)
}

/** Nobody keeps the model at this moment: beginning to do so is the switch. */
async function takeOver(lease: Lease, builds: ReadModelBuilds, signal: AbortSignal): Promise<void> {
  try {
    const run = await builds.begin(signal)
    await run?.flush()
  } finally {
    await lease.release()
  }
}

/** Milliseconds that models of one read wait for the slowest of them: nobody else waits for any of them. */
const PATIENCE = 600_000

type Fault = { readonly model: string; readonly error: unknown }

/** faults: what kept the others back. */
export type Outcome = { readonly rebuilt: readonly Rebuilt[]; readonly faults: readonly Fault[] }

/** Rebuilds models in one read of the log, each by itself: what one of them fails for keeps no other back. */
export async function rebuildAll(
  stores: Stores,
  models: readonly AnyProjection[],
  options: Omit<RebuildOptions, 'told'>,
): Promise<Outcome> {
  const progress = new RebuildProgress(options.report, await stores.store.head())
  const alone = models.length === 1
  const store = alone ? stores.store : shareReads(stores.store, { gather: 100, patience: PATIENCE, kept: 8_000 })
  const outcomes = await Promise.allSettled(
    models.map((model) =>
      rebuildModel({ ...stores, store }, model, {
        ...options,
        told: (events, position) => progress.folded(model.declaration.name, events, position),
      }),
    ),
  )
  progress.end()
  return {
    rebuilt: outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    faults: outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected'
        ? [{ model: models[index]?.declaration.name ?? '', error: outcome.reason as unknown }]
        : [],
    ),
  }
}

/** The progress of models that are filled together: that of the slowest. */
class RebuildProgress {
  readonly #step: StepProgress
  readonly #shares = new Map<string, number>()
  #events = 0

  /** @param head where the log ends now */
  constructor(
    report: Reporter,
    private readonly head: From,
  ) {
    this.#step = report.step('rebuilding', undefined, 'events')
  }

  folded(model: string, events: number, position: From): void {
    this.#events += events
    this.#shares.set(model, shareOf(position, this.head))
    this.#step.update(this.#events, Math.min(...this.#shares.values()))
  }

  end(): void {
    this.#step.end()
  }
}
