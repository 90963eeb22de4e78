import type { AppLogger } from '../../runtime/logger.ts'
import { StoreUnavailable, type PositionOrStart } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { eventsUpTo, readSequences } from '../engine/account-sequence.ts'

/** The position of the model. If this process projects it, no polling is needed. */
type WriterProgress = {
  /** undefined if another process projects the model. */
  readonly position: PositionOrStart | undefined
  waitForPosition(position: PositionOrStart, ms: number): Promise<boolean>
}

type ChangeNotifierOptions = {
  readonly model: Pick<ReadModel, 'position' | 'sequences'>
  readonly progress: WriterProgress
  readonly log: AppLogger
}

/** Milliseconds between two polls of a model that another process projects. */
const POLL_INTERVAL_MS = 250
/** Milliseconds after which a wait is renewed, to notice that another process has taken over. */
const MAX_WAIT_MS = 1_000
const ACCOUNTS_PER_QUERY = 500

type ChangeWaiter = { readonly number: number; readonly wake: () => void }

/**
 * Wakes requests that wait for changes of an account. Idle without waiters; otherwise all of them share one query
 * whenever the model has advanced.
 */
export class ChangeNotifier {
  readonly #waitersByAccount = new Map<number, Set<ChangeWaiter>>()
  #isPolling = false
  #isStopped = false

  constructor(private readonly options: ChangeNotifierOptions) {}

  /** Wakes all waiters; later calls return immediately. */
  stop(): void {
    this.#isStopped = true
    for (const waiters of this.#waitersByAccount.values()) for (const { wake } of waiters) wake()
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /**
   * Resolves when the model shows more than `number` events of an account, after `ms` milliseconds, on abort, or when
   * the service stops. The caller limits the number of waiters.
   * @throws StoreUnavailable
   */
  async waitForChanges(account: number, number: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isStopped || signal.aborted || ms <= 0) return
    const waiters = this.#waitersByAccount.get(account) ?? new Set()
    this.#waitersByAccount.set(account, waiters)
    let wake = () => {}
    const wakeSignal = new Promise<void>((resolve) => (wake = resolve))
    const waiter = { number, wake }
    waiters.add(waiter)
    const timer = setTimeout(wake, ms)
    signal.addEventListener('abort', wake)
    try {
      // Changes between the caller's page and now would wake nothing later.
      await this.#checkAccounts([account])
      this.#startPolling()
      await wakeSignal
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      waiters.delete(waiter)
      if (waiters.size === 0) this.#waitersByAccount.delete(account)
    }
  }

  #startPolling(): void {
    if (this.#isPolling) return
    this.#isPolling = true
    void this.#poll()
  }

  async #poll(): Promise<void> {
    const { progress } = this.options
    while (this.#waitersByAccount.size > 0 && !this.#isStopped) {
      const { position } = progress
      await this.#checkAllAccounts()
      if (position === undefined) await pause(POLL_INTERVAL_MS)
      else await progress.waitForPosition(positionAfter(position), MAX_WAIT_MS)
    }
    this.#isPolling = false
  }

  /** An unavailable store is queried again later; waiters learn of no changes meanwhile. */
  async #checkAllAccounts(): Promise<void> {
    const accounts = [...this.#waitersByAccount.keys()]
    try {
      for (let from = 0; from < accounts.length; from += ACCOUNTS_PER_QUERY)
        await this.#checkAccounts(accounts.slice(from, from + ACCOUNTS_PER_QUERY))
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.options.log.warn({ err: error }, 'clients that wait for changes could not be notified; trying again')
      await pause(POLL_INTERVAL_MS)
    }
  }

  /** Reads the checkpoint before the sequences: beyond it they may be incomplete. */
  async #checkAccounts(accounts: readonly number[]): Promise<void> {
    const { model } = this.options
    const position = await model.position()
    const sequences = await readSequences(model, accounts)
    for (const account of accounts) {
      const settledCount = eventsUpTo(sequences.sequenceOf(account), position).count
      for (const { number, wake } of this.#waitersByAccount.get(account) ?? []) if (settledCount > number) wake()
    }
  }
}

const positionAfter = (position: PositionOrStart): PositionOrStart =>
  position === 'start' ? { commit: 0n, prepare: 0n } : { ...position, prepare: position.prepare + 1n }

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
