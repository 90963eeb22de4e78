import { setTimeout as pause } from 'node:timers/promises'
import {
  OperationFailure,
  shareOf,
  waitForLease,
  type Operation,
  type Reporter,
  type StepProgress,
} from './operation.ts'
import type { RebuildProgressListener } from '../projections/engine/read-model-rebuilder.ts'
import type { ConsumerStores } from '../projections/engine/background-services.ts'
import { ReadModelConsumer } from '../projections/engine/read-model-consumer.ts'
import type { AnyProjection } from '../projections/engine/read-model.ts'
import { shareReads } from '../stores/log/shared-read.ts'
import type { PositionOrStart } from '../stores/ports/event-store.ts'
import type { Lease, ModelDeclaration } from '../stores/ports/read-store.ts'

type ModelRebuildOptions = Operation & {
  readonly onProgress: RebuildProgressListener
  /** How long to wait for another rebuild of the same model. */
  readonly leaseTimeoutMs?: number
}

type RebuildOutcome = {
  readonly rebuilt: readonly RebuildResult[]
  readonly failures: readonly RebuildFailure[]
}

/** Rebuilds models with one read of the log. They are independent: if one fails, the others continue. */
export async function rebuildAll(
  stores: ConsumerStores,
  models: readonly AnyProjection[],
  options: Omit<ModelRebuildOptions, 'onProgress'>,
): Promise<RebuildOutcome> {
  const progress = new RebuildProgress(options.report, await stores.store.head())
  const isSingleModel = models.length === 1
  const store = isSingleModel
    ? stores.store
    : shareReads(stores.store, { gatherMs: 100, maxWaitMs: SHARED_READ_TIMEOUT_MS, maxBufferedEvents: 8_000 })
  const outcomes = await Promise.allSettled(
    models.map((model) =>
      rebuildModel({ ...stores, store }, model, {
        ...options,
        onProgress: (events, position) => progress.advance(model.declaration.name, events, position),
      }),
    ),
  )
  progress.end()
  return {
    rebuilt: outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    failures: outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected'
        ? [{ model: models[index]?.declaration.name ?? '', error: outcome.reason as unknown }]
        : [],
    ),
  }
}

/** Reports the progress of the slowest of several models. */
class RebuildProgress {
  readonly #step: StepProgress
  readonly #shares = new Map<string, number>()
  #events = 0

  /** @param head head of the log at the start */
  constructor(
    report: Reporter,
    private readonly head: PositionOrStart,
  ) {
    this.#step = report.startStep('rebuilding', undefined, 'events')
  }

  advance(model: string, events: number, position: PositionOrStart): void {
    this.#events += events
    this.#shares.set(model, shareOf(position, this.head))
    this.#step.update(this.#events, Math.min(...this.#shares.values()))
  }

  end(): void {
    this.#step.end()
  }
}

/** How long faster models wait for the slowest one of a shared read. Long, since no client waits for any of them. */
const SHARED_READ_TIMEOUT_MS = 600_000

/** `events`: number of events that this run folded; `seconds`: from the start to the switch. */
type RebuildResult = { readonly model: string; readonly events: number; readonly seconds: number }

/**
 * Fills a new build of a model up to the head of the log, then waits until the process that runs the projection switches to it:
 * only that process knows which events it has reported as projected. If no process runs the projection, this one switches.
 * @throws OperationFailure
 */
export async function rebuildModel(
  stores: ConsumerStores,
  projection: AnyProjection,
  { report, signal, onProgress, leaseTimeoutMs }: ModelRebuildOptions,
): Promise<RebuildResult> {
  const started = performance.now()
  const { reads, store, log } = stores
  const { declaration } = projection
  const leaseDeclaration = { ...declaration, name: `${declaration.name}-rebuild` }
  const lease = await waitForLease(reads, leaseDeclaration, {
    signal,
    ...(leaseTimeoutMs !== undefined && { timeoutMs: leaseTimeoutMs }),
  })
  if (lease === undefined) throw new OperationFailure(`Another process is rebuilding ${declaration.name}`)
  const leaseLoss = new AbortController()
  void lease.lost.then(() =>
    leaseLoss.abort(new OperationFailure(`Another process took over the rebuild of ${declaration.name}`)),
  )
  const combinedSignal = AbortSignal.any([signal, leaseLoss.signal])
  let events = 0
  try {
    if ((await reads.pendingBuild(declaration)) !== undefined)
      report.note(`resuming an interrupted rebuild of ${declaration.name}`)
    const consumer = new ReadModelConsumer(projection, store, reads, log)
    const newBuild = await consumer.rebuilder.fill(combinedSignal, (number, position) => {
      events += number
      onProgress(number, position)
    })
    combinedSignal.throwIfAborted()
    if (newBuild === undefined)
      throw new OperationFailure(`The rebuild of ${declaration.name} ended before it caught up with the log`)
    await switchToBuild(newBuild.id, consumer, stores, declaration, combinedSignal)
    return { model: declaration.name, events, seconds: (performance.now() - started) / 1000 }
  } finally {
    await lease.release()
  }
}

async function switchToBuild(
  id: string,
  consumer: ReadModelConsumer,
  { reads }: ConsumerStores,
  declaration: ModelDeclaration,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + SWITCH_TIMEOUT_MS
  while ((await reads.pendingBuild(declaration)) !== undefined) {
    signal.throwIfAborted()
    if (performance.now() > deadline)
      throw new OperationFailure(
        `The service did not switch to the new build of ${declaration.name} within ${SWITCH_TIMEOUT_MS / 1000} s. The build is kept: ` +
          'check the log of the service, then run rebuild again',
      )
    const lease = await reads.acquireLease(declaration)
    if (lease === undefined) await pause(POLL_INTERVAL_MS)
    else await promoteBuild(lease, consumer, signal)
  }
  if ((await reads.live(declaration)).id !== id)
    throw new OperationFailure(`Another process discarded the new build of ${declaration.name}; run rebuild again`)
}

/** How long to wait until the process that runs the projection switches to the new build; it checks once a second. */
const SWITCH_TIMEOUT_MS = 60_000

const POLL_INTERVAL_MS = 200

/** Switches to the new build: that happens when a run of the projection begins, and no other process runs it. */
async function promoteBuild(lease: Lease, consumer: ReadModelConsumer, signal: AbortSignal): Promise<void> {
  try {
    const run = await consumer.beginRun(signal)
    await run?.flush()
  } finally {
    await lease.release()
  }
}

type RebuildFailure = { readonly model: string; readonly error: unknown }
