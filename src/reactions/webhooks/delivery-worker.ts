import { accountFold, accountStream } from '../../domain/account/account.ts'
import type { CommandContext } from '../../commands/core/command-context.ts'
import { loadStream } from '../../events/load-stream.ts'
import { recordDelivery, resealWebhook, webhooksOf, type WebhookReference } from '../../commands/webhooks/webhooks.ts'
import type { WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import { decideRetry, type DeliveryStateChange, type Webhook } from '../../domain/webhook/webhook.ts'
import { traceOf } from '../../events/event-metadata.ts'
import { CursorLost, type FeedChange, type ChangeFeed } from '../../projections/diamonds/change-feed.ts'
import type { DeliveryAttempt, WebhookProgress, WebhookProgressStore } from '../../projections/webhooks/webhooks.ts'
import { FairSemaphore } from '../../runtime/fairness/semaphores.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { toWebhookMessage, signMessage, type DeliveryOutcome, type SendMessage } from './webhook-sender.ts'

/**
 * The trace of the newest event behind a change, which may combine several events; a user's change takes precedence
 * over the scores that followed it.
 * @throws StoreUnavailable
 */
async function traceOfChange(
  store: Pick<EventStore, 'readStream'>,
  { diamond, what }: Pick<FeedChange, 'diamond' | 'what'>,
): Promise<string | undefined> {
  const isOnlyScores = what.every((one) => one === 'scores')
  const [newest] = await store.readStream(isOnlyScores ? scoresStream(diamond) : diamondStream(diamond), { last: 1 })
  return newest && traceOf(newest).trace
}

/** The change feed in v4 form, as delivered to webhooks. */
export type PushFeed = {
  /** The changes after a cursor. If the cursor was lost in a restore, those after the latest common one. */
  after(
    account: number,
    cursor: string,
    limit: number,
  ): Promise<{ readonly changes: readonly FeedChange[]; readonly next: string }>
  /** Resolves when there may be changes after a cursor, after `ms` milliseconds, or when aborted. */
  waitForChanges(account: number, cursor: string, ms: number, signal: AbortSignal): Promise<void>
}

/** Restarts a lost cursor silently: the receiver finds deleted diamonds by comparing with the list. */
export const toPushFeed = (feed: Pick<ChangeFeed, 'after' | 'waitForChanges'>): PushFeed => ({
  async after(account, cursor, limit) {
    try {
      return await feed.after('v4', account, cursor, limit)
    } catch (error) {
      if (!(error instanceof CursorLost)) throw error
      return feed.after('v4', account, error.restart, limit)
    }
  },
  waitForChanges: (account, cursor, ms, signal) => feed.waitForChanges(account, cursor, ms, signal),
})

/** Concurrent deliveries to receivers whose last delivery succeeded, and to those whose last one failed. */
const MAX_HEALTHY_ATTEMPTS = 256
const MAX_FAILING_ATTEMPTS = 64

/**
 * Limits concurrent deliveries, with a separate limit for receivers that failed last time: hanging receivers delay the
 * others only on their first failure.
 */
export class DeliveryBulkhead {
  readonly #healthy: FairSemaphore
  readonly #failing: FairSemaphore

  constructor({ healthy = MAX_HEALTHY_ATTEMPTS, failing = MAX_FAILING_ATTEMPTS } = {}) {
    this.#healthy = new FairSemaphore(healthy)
    this.#failing = new FairSemaphore(failing)
  }

  /** Resolves when this account may send; the resolved function releases the slot. */
  acquire(owner: number, hasFailed: boolean): Promise<() => void> {
    const semaphore = hasFailed ? this.#failing : this.#healthy
    return semaphore.acquire({ names: [`account-${owner}`], isPriority: false })
  }
}

export type DeliveryWorkerTools = {
  readonly context: CommandContext
  readonly secrets: WebhookSecrets
  readonly feed: PushFeed
  readonly progressStore: Pick<WebhookProgressStore, 'find' | 'save'>
  readonly bulkhead: DeliveryBulkhead
  readonly send: SendMessage
  /** Resolves after the given milliseconds, or when aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly onAttempt: (outcome: DeliveryOutcome) => void
}

/** Changes read at a time: a slow receiver gets them as they were when they were read. */
const BATCH_SIZE = 20

/** Milliseconds after which a waiting worker checks its webhook and the clock again. */
const MAX_WAIT_MS = 60_000

/** Milliseconds between two records of a webhook's progress in the log. */
const PROGRESS_EVENT_INTERVAL_MS = 3_600_000

const HTTP_GONE = 410

/**
 * Delivers the changes of one webhook sequentially, each until it succeeds. Ends when the webhook is paused or deleted,
 * or its account is disabled.
 */
export class DeliveryWorker {
  #wake = new AbortController()

  constructor(
    private readonly reference: WebhookReference,
    private readonly tools: DeliveryWorkerTools,
  ) {}

  /** Called when the webhook may have changed: ends waits, so that it is loaded again. */
  wake(): void {
    this.#wake.abort()
  }

  /** @throws errors of the stores, or the signal's reason if aborted during an attempt */
  async run(signal: AbortSignal): Promise<void> {
    const { feed } = this.tools
    while (!signal.aborted) {
      this.#wake = new AbortController()
      const webhook = await this.#loadActiveWebhook()
      if (webhook === undefined) return
      const progress = await this.#loadProgress(webhook)
      const waitSignal = AbortSignal.any([signal, this.#wake.signal])
      const delayMs = progress.next - this.tools.context.clock()
      if (delayMs > 0) {
        await this.tools.sleep(Math.min(delayMs, MAX_WAIT_MS), waitSignal)
        continue
      }
      const { changes, next } = await feed.after(this.reference.owner, progress.cursor, BATCH_SIZE)
      if (changes.length === 0) await feed.waitForChanges(this.reference.owner, next, MAX_WAIT_MS, waitSignal)
      else await this.#deliver(webhook, progress, changes, signal)
    }
  }

  /** Loads the webhook from the log. Undefined if there is nothing to deliver. */
  async #loadActiveWebhook(): Promise<Webhook | undefined> {
    const { owner, id } = this.reference
    const { context, secrets } = this.tools
    const account = await loadStream(context.store, accountStream(owner), accountFold)
    if (account.state.status !== 'enabled') return undefined
    const found = (await webhooksOf(context.store, owner)).find((one) => one.id === id)
    if (found === undefined || found.state === 'paused') return undefined
    if (!found.secrets.every(({ sealed }) => secrets.isCurrent(sealed))) {
      await resealWebhook({ ...context, secrets }, this.reference)
      return this.#loadActiveWebhook()
    }
    return found
  }

  /** If the read store lost the progress, continues from the cursor last recorded in the log. */
  async #loadProgress({ id, cursor, begun }: Webhook): Promise<WebhookProgress> {
    const found = await this.tools.progressStore.find(id)
    const noted = this.tools.context.clock()
    if (found === undefined) return { cursor, begun, failures: null, next: 0, noted, tries: 0 }
    return found.begun === begun ? found : { ...found, begun, failures: null, next: 0 }
  }

  async #deliver(
    webhook: Webhook,
    initialProgress: WebhookProgress,
    changes: readonly FeedChange[],
    signal: AbortSignal,
  ): Promise<void> {
    let progress: WebhookProgress | undefined = initialProgress
    for (const change of changes) {
      if (signal.aborted || this.#wake.signal.aborted) return
      progress = await this.#attemptDelivery(webhook, progress, change, signal)
      if (progress === undefined) return
    }
  }

  /** @returns undefined if the delivery failed */
  async #attemptDelivery(
    webhook: Webhook,
    previous: WebhookProgress,
    change: FeedChange,
    signal: AbortSignal,
  ): Promise<WebhookProgress | undefined> {
    const { context, secrets, send, bulkhead, progressStore, onAttempt } = this.tools
    const release = await bulkhead.acquire(this.reference.owner, previous.failures !== null)
    try {
      if (signal.aborted) return undefined
      const at = context.clock()
      const message = toWebhookMessage(webhook, change, at)
      const trace = await traceOfChange(context.store, change)
      const outcome = await send(webhook.url, signMessage(webhook, message, secrets, at, trace), signal)
      const { progress, stateChange } = progressAfterAttempt(
        webhook,
        { ...previous, tries: previous.tries + 1 },
        change.cursor,
        outcome,
        context.clock(),
      )
      await progressStore.save(webhook.id, progress, toDeliveryAttempt(change, at, outcome))
      onAttempt(outcome)
      if (stateChange !== undefined) await recordDelivery(context, this.reference, stateChange)
      // After a change of state, the webhook is loaded again.
      return outcome.error === null && stateChange === undefined ? progress : undefined
    } finally {
      release()
    }
  }
}

const toDeliveryAttempt = (
  { cursor }: FeedChange,
  at: number,
  { status, ms, error }: DeliveryOutcome,
): DeliveryAttempt => ({
  cursor,
  at,
  status,
  ms,
  error,
})

type AttemptEffect = { readonly progress: WebhookProgress; readonly stateChange: DeliveryStateChange | undefined }

/** The effect of an attempt: the new progress, and the state change to record in the log. */
function progressAfterAttempt(
  webhook: Webhook,
  previous: WebhookProgress,
  cursor: string,
  { status, error }: DeliveryOutcome,
  now: number,
): AttemptEffect {
  if (error === null) return progressAfterSuccess(webhook, { ...previous, cursor, failures: null, next: 0 }, now)
  const { failures, nextAttemptAt, isPastFailingThreshold } = decideRetry(previous.failures, now)
  const progress = { ...previous, failures, next: nextAttemptAt }
  const lastCursor = previous.cursor
  if (status === HTTP_GONE) return { progress, stateChange: { type: 'paused', why: 'gone', cursor: lastCursor, error } }
  if (!isPastFailingThreshold) return { progress, stateChange: undefined }
  if (webhook.state === 'failing')
    return { progress, stateChange: { type: 'paused', why: 'failing', cursor: lastCursor, error } }
  return { progress, stateChange: { type: 'failing', cursor: lastCursor, error } }
}

function progressAfterSuccess(webhook: Webhook, progress: WebhookProgress, now: number): AttemptEffect {
  const { cursor, noted } = progress
  if (webhook.state === 'failing')
    return { progress: { ...progress, noted: now }, stateChange: { type: 'recovered', cursor } }
  if (now - noted < PROGRESS_EVENT_INTERVAL_MS) return { progress, stateChange: undefined }
  return { progress: { ...progress, noted: now }, stateChange: { type: 'progressed', cursor } }
}
