import { logLineage, readEpoch } from '../events/lineage.ts'
import { ForeignStores } from '../commands/installation/join-stores.ts'
import type { Installation } from './installation.ts'
import { verifyOwnLog } from './known-log.ts'
import type { ServiceParts } from './service-parts.ts'
import { requireLogNotRolledBack, LogRolledBack } from '../projections/engine/log-rollback.ts'
import { StoreUnavailable } from '../stores/ports/event-store.ts'
import type { LogHighWaterMark } from '../stores/ports/high-water-mark.ts'

const CHECK_INTERVAL_MS = 2_000
/** Consecutive failed checks before the process stops: a server that is starting may not have its whole log yet. */
const FAILED_CHECKS_TO_STOP = 3

/**
 * Checks at the start and every 2 s that the log was not rolled back, and that the vault and the files belong to it.
 * Records the log's newest event in the folder.
 */
export class LogRollbackMonitor {
  /**
   * Resolves when this process must stop: the log was rolled back or restored, or vault or files are not those of the
   * log.
   */
  readonly fatalError: Promise<Error>
  /** Resolves when they are found to belong together. Background work must not begin before. */
  readonly storesVerified: Promise<void>
  /** Whether `storesVerified` has resolved. */
  areStoresVerified = false
  #reportFatalError!: (error: Error) => void
  #reportStoresVerified!: () => void
  #timer: NodeJS.Timeout | undefined
  #currentCheck: Promise<void> = Promise.resolve()
  #stopped = false
  #epoch = 0
  #highWaterMark: LogHighWaterMark | undefined
  #isHighWaterMarkSaved = false
  #failedChecks = 0

  private constructor(private readonly installation: Installation) {
    this.fatalError = new Promise((resolve) => (this.#reportFatalError = resolve))
    this.storesVerified = new Promise((resolve) => (this.#reportStoresVerified = resolve))
  }

  /**
   * @throws LogRolledBack, ForeignStores; StoreUnavailable if the log is unavailable. An unavailable read store is checked
   *   later.
   */
  static async open(installation: Installation, parts: ServiceParts): Promise<LogRollbackMonitor> {
    const monitor = new LogRollbackMonitor(installation)
    monitor.#epoch = await readEpoch(installation.store)
    await monitor.#verifyStores()
    await monitor.#recordHead()
    monitor.#scheduleCheck()
    parts.add({ stage: 'dependencies', name: 'past', stop: () => monitor.#stop() })
    return monitor
  }

  async #stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#currentCheck
    await this.#check()
  }

  /**
   * Checks now that the log was not rolled back, or restored, while this process was running.
   * @throws LogRolledBack, StoreUnavailable
   */
  async requireLogUnchanged(): Promise<void> {
    const { store } = this.installation
    if (this.#highWaterMark !== undefined)
      await requireLogNotRolledBack(store, [{ observer: 'this process', ...this.#highWaterMark }])
    if ((await readEpoch(store)) === this.#epoch) return
    throw new LogRolledBack('The event log was restored while this process was running: restart the process')
  }

  #scheduleCheck(): void {
    if (!this.#stopped) this.#timer = setTimeout(() => (this.#currentCheck = this.#check()), CHECK_INTERVAL_MS).unref()
  }

  async #check(): Promise<void> {
    try {
      if (!this.areStoresVerified) await this.#verifyStores()
      await this.requireLogUnchanged()
      await this.#recordHead()
      this.#failedChecks = 0
    } catch (error) {
      if (isWrongLog(error)) this.#countFailedCheck(error)
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

  /** Only reports it while a store is unavailable. */
  async #verifyStores(): Promise<void> {
    try {
      if ((await verifyOwnLog(this.installation, { mayRecord: true })) === 'vault lost')
        this.installation.log.warn('the vault was lost and replaced by a new one: pending one-time secrets are lost')
      this.areStoresVerified = true
      this.#reportStoresVerified()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || isWrongLog(error)) throw error
      this.installation.log.warn(
        { err: error, repeats: true },
        'the vault and the files are not yet compared with the log',
      )
    }
  }

  /** The folder's mark is replaced only once the log is known to be its own. */
  async #recordHead(): Promise<void> {
    const { store, highWaterMarks } = this.installation
    const head = await store.head()
    const newest = head === 'start' ? undefined : await store.eventAt(head)
    const closed = await store.closedReason()
    const fence = closed?.why === 'fenced' ? { copy: closed.copy, to: closed.to } : null
    const isUnchanged =
      newest?.id === this.#highWaterMark?.event?.id && fence?.copy === this.#highWaterMark?.fence?.copy
    if (newest === undefined || (isUnchanged && this.#isHighWaterMarkSaved)) return
    const current: LogHighWaterMark = {
      log: await logLineage(store),
      event: { id: newest.id, position: newest.position },
      fence,
    }
    this.#highWaterMark = current
    this.#isHighWaterMarkSaved = this.areStoresVerified
    if (this.areStoresVerified) highWaterMarks.save(current)
  }
}

const isWrongLog = (error: unknown): error is LogRolledBack | ForeignStores =>
  error instanceof LogRolledBack || error instanceof ForeignStores
