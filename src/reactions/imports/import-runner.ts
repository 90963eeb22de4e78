import type { CommandPrincipal } from '../../commands/diamonds/diamonds.ts'
import { AlreadyApplied } from '../../commands/diamonds/change-stock.ts'
import { failImport, runImport, runUndo } from '../../commands/imports/run-import.ts'
import { expireImports, importsOf } from '../../commands/imports/stock-imports.ts'
import type { ImportCommandContext } from '../../commands/imports/understand.ts'
import {
  importsStream,
  IMPORTS_STREAM_PREFIX,
  isAtWork,
  type StockImport,
  type StockImportEvent,
} from '../../domain/imports/stock-import.ts'
import { RequestError } from '../../domain/request-error.ts'
import { decode } from '../../events/decode.ts'
import { READ_MODEL_WAIT_MS, type ProjectionProgress } from '../../projections/engine/progress.ts'
import { defineReaction } from '../../projections/engine/reaction.ts'
import { accountsWithDueImports } from '../../projections/imports/imports.ts'
import { Semaphore } from '../../runtime/fairness/semaphores.ts'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { Interruption } from '../../runtime/outages.ts'
import { OutcomeUnknown, StoreUnavailable, WrongRevision, type Position } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'

/** Milliseconds between two checks of what is due, unless an event wakes it. */
const POLL_INTERVAL_MS = 2_000

/** Milliseconds before an import continues after a store's failure. */
const RETRY_DELAY_MS = 1_000

/** Attempts at an import after failures that are not a store's. */
const MAX_ATTEMPTS = 3

/** Imports that are written at the same time, each of another account. */
const MAX_CONCURRENT = 2

type ImportRunnerTools = {
  readonly context: ImportCommandContext
  /** The imports of all accounts. */
  readonly importModel: { readonly model: Pick<ReadModel, 'find'>; readonly progress: ProjectionProgress }
  /** The stones of all accounts. The next bulk waits for the last one's, so that lists do not fall behind. */
  readonly diamondProgress: ProjectionProgress
  /** Resolves after the given milliseconds or on abort. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  readonly log: AppLogger
}

/** Writes and undoes the imports of all accounts, in the process that holds the lease, and ends those whose time is over. */
export class ImportRunner {
  readonly #running = new Map<number, Promise<void>>()
  readonly #stonesByImport = new Map<string, number>()
  readonly #failuresByImport = new Map<string, number>()
  readonly #pause = new InterruptibleSleep()
  readonly #permits = new Semaphore(MAX_CONCURRENT)
  readonly #interruption: Interruption

  constructor(private readonly tools: ImportRunnerTools) {
    this.#interruption = new Interruption('imports', tools.log)
  }

  /** Stones that this process has written or restored; undefined if it is not at work on the import. */
  doneOf(importId: string): number | undefined {
    return this.#stonesByImport.get(importId)
  }

  async onImportsChanged(position: Position): Promise<void> {
    await this.tools.importModel.progress.waitForPosition(position, POLL_INTERVAL_MS)
    this.#pause.wake()
  }

  /** Works until stopped, then waits for the bulks under way. @throws errors of the stores */
  async run(signal: AbortSignal): Promise<void> {
    const { importModel, context } = this.tools
    const wake = () => this.#pause.wake()
    signal.addEventListener('abort', wake, { once: true })
    try {
      while (!signal.aborted) {
        for (const account of await accountsWithDueImports(importModel.model, context.clock())) {
          await expireImports(context, account)
          this.#start(account, signal)
        }
        if (!signal.aborted) await this.#pause.sleep(POLL_INTERVAL_MS)
      }
    } finally {
      signal.removeEventListener('abort', wake)
      await Promise.all(this.#running.values())
    }
  }

  #start(account: number, signal: AbortSignal): void {
    if (this.#running.has(account)) return
    const work = this.#permits
      .run(() => this.#work(account, signal))
      .then(() => this.#interruption.end())
      .catch(async (error: unknown) => {
        if (signal.aborted) return
        this.#interruption.recordFailure(error)
        await this.tools.sleep(RETRY_DELAY_MS, signal)
        this.#pause.wake()
      })
      .finally(() => this.#running.delete(account))
    this.#running.set(account, work)
  }

  async #work(account: number, signal: AbortSignal): Promise<void> {
    const { context } = this.tools
    const stockImport = (await importsOf(context, account)).find(isAtWork)
    if (stockImport === undefined || signal.aborted) return
    const principal = await this.#principalOf(account, stockImport)
    const onProgress = async (stones: number) => {
      this.#stonesByImport.set(stockImport.id, stones)
      await this.tools.diamondProgress.waitForPosition(await context.store.head(), READ_MODEL_WAIT_MS)
      signal.throwIfAborted()
    }
    const run = stockImport.state === 'applying' ? runImport : runUndo
    try {
      await run(context, principal, stockImport, onProgress)
      this.#failuresByImport.delete(stockImport.id)
    } catch (error) {
      // Another process is at work on it, although this one holds the lease: it has taken over.
      if (error instanceof AlreadyApplied) return
      if (!signal.aborted && !isStoreFailure(error)) await this.#countFailure(account, stockImport.id, error)
      throw error
    } finally {
      this.#stonesByImport.delete(stockImport.id)
    }
  }

  /** An import that fails again and again must not keep the account from others. */
  async #countFailure(account: number, importId: string, error: unknown): Promise<void> {
    const failures = (this.#failuresByImport.get(importId) ?? 0) + 1
    this.#failuresByImport.set(importId, failures)
    if (failures < MAX_ATTEMPTS) return
    this.#failuresByImport.delete(importId)
    this.tools.log.error({ err: error, import: importId }, 'an import failed and is not tried again')
    await failImport(this.tools.context, account, importId)
  }

  /** Who started the work: the account's client, as the history of its stones shows. */
  async #principalOf(owner: number, { id, state }: StockImport): Promise<CommandPrincipal> {
    const type: StockImportEvent['type'] = state === 'applying' ? 'ImportStarted' : 'ImportUndoStarted'
    const events = await this.tools.context.store.readStream(importsStream(owner))
    const started = events.findLast((event) => event.type === type && decode<StockImportEvent>(event).data.id === id)
    const { actor = `account-${owner}`, client, $correlationId: correlation = id } = started?.metadata ?? {}
    return { owner, origin: { actor, via: 'http', correlation, ...(client !== undefined && { client }) } }
  }
}

const isStoreFailure = (error: unknown): boolean =>
  [StoreUnavailable, OutcomeUnknown, WrongRevision].some((type) => error instanceof type) ||
  (error instanceof RequestError && error.kind === 'unavailable')

export type ImportTools = { readonly importRunner: ImportRunner }

/** Events only wake the runner: the read model has what is due. */
export const importRuns = defineReaction<ImportTools>({
  name: 'import-runs',
  streamPrefixes: [IMPORTS_STREAM_PREFIX],
  eventTypes: ['ImportStarted', 'ImportUndoStarted'],
  createHandler:
    ({ importRunner }) =>
    async (events) => {
      const last = events.at(-1)
      if (last !== undefined) await importRunner.onImportsChanged(last.position)
    },
  createCompanionTask:
    ({ importRunner }) =>
    (signal) =>
      importRunner.run(signal),
})
