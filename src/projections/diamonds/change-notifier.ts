import type { AppLogger } from '../../runtime/logger.ts'
import { StoreUnavailable, type PositionOrStart } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { eventCountAt, readSequences } from '../engine/account-sequence.ts'

/** How far the model is, where this process writes it: nobody has to look, it tells. */
export type WriterProgress = {
  /** undefined where another process writes it. */
  readonly position: PositionOrStart | undefined
  waitForPosition(position: PositionOrStart, ms: number): boolean | Promise<boolean>
}

export type ChangeNotifierOptions = {
  readonly model: Pick<ReadModel, 'position' | 'sequences'>
  readonly progress: WriterProgress
  readonly log: AppLogger
}

/** Milliseconds between two looks at a model that another process writes. */
const POLL_INTERVAL_MS = 250
/** Milliseconds after which it is looked at again who writes it. */
const MAX_WAIT_MS = 1_000
/** Accounts that are asked for in one call. */
const ACCOUNTS_PER_QUERY = 500

type ChangeWaiter = { readonly number: number; readonly wake: () => void }

/**
 * Wakes who waits for something new of an account. While nobody waits nothing is done; while somebody does, all of them cost
 * one look whenever the model has come on.
 */
export class ChangeNotifier {
  readonly #waiting = new Map<number, Set<ChangeWaiter>>()
  #looking = false
  #isStopped = false

  constructor(private readonly options: ChangeNotifierOptions) {}

  /** From now on nobody waits. */
  stop(): void {
    this.#isStopped = true
    for (const waiters of this.#waiting.values()) for (const { wake } of waiters) wake()
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /**
   * Resolves when an account has more than so many events, and no sooner than the model shows them; after `ms` milliseconds,
   * when the signal says so, or when the service stops. Who asks bounds how many wait.
   * @throws StoreUnavailable
   */
  async waitForChanges(account: number, number: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isStopped || signal.aborted || ms <= 0) return
    const waiters = this.#waiting.get(account) ?? new Set()
    this.#waiting.set(account, waiters)
    let wake = () => {}
    const woken = new Promise<void>((done) => (wake = done))
    const waiter = { number, wake }
    waiters.add(waiter)
    const timer = setTimeout(wake, ms)
    signal.addEventListener('abort', wake)
    try {
      // What came between the caller's page and now wakes nobody any more.
      await this.#look([account])
      this.#run()
      await woken
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      waiters.delete(waiter)
      if (waiters.size === 0) this.#waiting.delete(account)
    }
  }

  #run(): void {
    if (this.#looking) return
    this.#looking = true
    void this.#rounds()
  }

  async #rounds(): Promise<void> {
    const { progress } = this.options
    while (this.#waiting.size > 0 && !this.#isStopped) {
      const { position } = progress
      await this.#lookAtAll()
      if (position === undefined) await pause(POLL_INTERVAL_MS)
      else await progress.waitForPosition(positionAfter(position), MAX_WAIT_MS)
    }
    this.#looking = false
  }

  /** A store that is away is asked again; who waits is told nothing new meanwhile, which is true. */
  async #lookAtAll(): Promise<void> {
    const accounts = [...this.#waiting.keys()]
    try {
      for (let from = 0; from < accounts.length; from += ACCOUNTS_PER_QUERY)
        await this.#look(accounts.slice(from, from + ACCOUNTS_PER_QUERY))
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.options.log.warn({ err: error }, 'who waits for changes is not told')
      await pause(POLL_INTERVAL_MS)
    }
  }

  /** The checkpoint is read before the sequences: what they have behind it is not all written. */
  async #look(accounts: readonly number[]): Promise<void> {
    const { model } = this.options
    const position = await model.position()
    const sequences = await readSequences(model, accounts)
    for (const account of accounts) {
      const settled = eventCountAt(sequences.sequenceOf(account), position)
      for (const { number, wake } of this.#waiting.get(account) ?? []) if (settled > number) wake()
    }
  }
}

/** The next position that there may be. */
const positionAfter = (position: PositionOrStart): PositionOrStart =>
  position === 'start' ? { commit: 0n, prepare: 0n } : { ...position, prepare: position.prepare + 1n }

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms).unref())
