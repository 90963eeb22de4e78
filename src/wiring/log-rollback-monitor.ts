import { logLineage, readEpoch } from '../events/lineage.ts'
import { verifyJoinedStores, ForeignStores } from '../commands/installation/join-stores.ts'
import { CHECKPOINTED_MODELS } from './followers.ts'
import { storeIdentitiesOf, type Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'
import {
  requireLogNotRolledBack,
  LogRolledBack,
  readLogObservations,
  type LogObservation,
} from '../projections/engine/log-rollback.ts'
import { StoreUnavailable } from '../stores/ports/event-store.ts'
import type { LogHighWaterMark } from '../stores/ports/high-water-mark.ts'

const ORIGIN = { actor: 'service', via: 'projection', correlation: 'stores' } as const

const CHECK_INTERVAL_MS = 2_000
/** Consecutive failed checks before the process stops: a server that is starting may not have its whole log yet. */
const FAILED_CHECKS_TO_STOP = 3

export type LogRollbackMonitor = {
  /**
   * Resolves when this process must stop: the log was rolled back or restored, or vault or files are not those of the
   * log.
   */
  readonly fatalError: Promise<Error>
}

/**
 * Checks at the start and from then on that the log has everything that was seen of it, and that vault and files belong
 * to it; records what is seen.
 * @throws LogRolledBack, ForeignStores; StoreUnavailable if the log is unavailable. An unavailable read store is
 * checked later.
 */
export async function openLogRollbackMonitor(
  installation: Installation,
  parts: ServiceParts,
): Promise<LogRollbackMonitor> {
  const checker = new RollbackChecker(installation)
  await checker.start()
  parts.add({ stage: 'views', name: 'past', stop: () => checker.stop() })
  return { fatalError: checker.fatalError }
}

class RollbackChecker {
  readonly fatalError: Promise<Error>
  #reportFatalError!: (error: Error) => void
  #timer: NodeJS.Timeout | undefined
  #currentCheck: Promise<void> = Promise.resolve()
  #stopped = false
  #epoch = 0
  #areObservationsChecked = false
  #highWaterMark: LogHighWaterMark | undefined
  #failedChecks = 0

  constructor(private readonly installation: Installation) {
    this.fatalError = new Promise((resolve) => (this.#reportFatalError = resolve))
  }

  async start(): Promise<void> {
    const { store, highWaterMarks } = this.installation
    this.#epoch = await readEpoch(store)
    const last = highWaterMarks.read()
    if (last !== undefined) await requireLogNotRolledBack(store, [{ observer: 'this folder', ...last }])
    await this.#checkObservations()
    await this.#recordHead()
    this.#scheduleCheck()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#currentCheck
    await this.#check()
  }

  #scheduleCheck(): void {
    if (!this.#stopped) this.#timer = setTimeout(() => (this.#currentCheck = this.#check()), CHECK_INTERVAL_MS).unref()
  }

  async #check(): Promise<void> {
    try {
      if (!this.#areObservationsChecked) await this.#checkObservations()
      await this.#checkHeadAndEpoch()
      await this.#recordHead()
      this.#failedChecks = 0
    } catch (error) {
      if (error instanceof LogRolledBack || error instanceof ForeignStores) this.#countFailedCheck(error)
      // An unavailable store is checked again later; its users report the outage.
      else if (!(error instanceof StoreUnavailable)) {
        this.installation.log.warn({ err: error }, 'the newest event of the log could not be recorded')
      }
    }
    this.#scheduleCheck()
  }

  #countFailedCheck(error: Error): void {
    if (++this.#failedChecks >= FAILED_CHECKS_TO_STOP) this.#reportFatalError(error)
  }

  async #checkObservations(): Promise<void> {
    const { store, reads, vault } = this.installation
    let observations: LogObservation[]
    try {
      observations = await readLogObservations(reads, CHECKPOINTED_MODELS, vault)
    } catch (error) {
      if (error instanceof StoreUnavailable) return
      throw error
    }
    await requireLogNotRolledBack(store, observations)
    this.#areObservationsChecked = await this.#checkStores()
  }

  /** @returns false if the stores are unavailable @throws ForeignStores */
  async #checkStores(): Promise<boolean> {
    const { writing, log } = this.installation
    try {
      const found = await verifyJoinedStores({ ...writing, origin: ORIGIN }, await storeIdentitiesOf(this.installation))
      if (found === 'vault lost')
        log.warn('the vault was lost and replaced by a new one: pending one-time secrets are lost')
      return true
    } catch (error) {
      if (error instanceof StoreUnavailable && !(error instanceof ForeignStores)) return false
      throw error
    }
  }

  async #checkHeadAndEpoch(): Promise<void> {
    const { store } = this.installation
    if (this.#highWaterMark !== undefined)
      await requireLogNotRolledBack(store, [{ observer: 'this process', ...this.#highWaterMark }])
    if ((await readEpoch(store)) === this.#epoch) return
    throw new LogRolledBack('The event log was restored while this process was running: restart the process')
  }

  async #recordHead(): Promise<void> {
    const { store, highWaterMarks } = this.installation
    const head = await store.head()
    const newest = head === 'start' ? undefined : await store.eventAt(head)
    const closed = await store.closedReason()
    const fence = closed?.why === 'fenced' ? { copy: closed.copy, to: closed.to } : null
    if (
      newest === undefined ||
      (newest.id === this.#highWaterMark?.event?.id && fence?.copy === this.#highWaterMark.fence?.copy)
    )
      return
    const current: LogHighWaterMark = {
      log: await logLineage(store),
      event: { id: newest.id, position: newest.position },
      fence,
    }
    this.#highWaterMark = current
    highWaterMarks.save(current)
  }
}
