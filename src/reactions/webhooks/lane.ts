import { accountDecider, accountStream } from '../../domain/account/account.ts'
import type { Writing } from '../../commands/core/handle.ts'
import { load } from '../../events/load.ts'
import { noteDelivery, resealWebhook, webhooksOf, type Named } from '../../commands/webhooks/webhooks.ts'
import type { WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import { afterFailure, type DeliveryNews, type Webhook } from '../../domain/webhook/webhook.ts'
import { traceIn } from '../../events/origin.ts'
import { CursorLost, type Change, type ChangeFeed } from '../../projections/diamonds/change-feed.ts'
import type { Delivery, WebhookProgress, WebhookProgresses } from '../../projections/webhooks/webhooks.ts'
import { FairSemaphore } from '../../runtime/fairness/semaphores.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { messageOf, signed, type Outcome, type Send } from './send.ts'

/**
 * The trace of the newest thing that a message tells of, since several changes may have become one; what somebody asked for
 * goes before the scores that followed.
 * @throws StoreUnavailable
 */
async function traceOfChange(
  store: Pick<EventStore, 'read'>,
  { diamond, what }: Pick<Change, 'diamond' | 'what'>,
): Promise<string | undefined> {
  const isOfScores = what.every((one) => one === 'scores')
  const [newest] = await store.read(isOfScores ? scoresStream(diamond) : diamondStream(diamond), { last: 1 })
  return newest && traceIn(newest).trace
}

/** What is pushed: the feed that can be asked for as well, in v4. */
export type PushedFeed = {
  /** What came behind a cursor; where that was lost by a restore, behind the place that the feed went back to. */
  after(
    account: number,
    cursor: string,
    limit: number,
  ): Promise<{ readonly changes: readonly Change[]; readonly next: string }>
  /** Resolves when there may be something behind a cursor, after so many milliseconds, or when it is aborted. */
  changed(account: number, cursor: string, ms: number, signal: AbortSignal): Promise<void>
}

/** Nobody is there to be told that a cursor is lost: the receiver finds what is gone by comparing with the list. */
export const pushedFeed = (feed: Pick<ChangeFeed, 'after' | 'changed'>): PushedFeed => ({
  async after(account, cursor, limit) {
    try {
      return await feed.after('v4', account, cursor, limit)
    } catch (error) {
      if (!(error instanceof CursorLost)) throw error
      return feed.after('v4', account, error.restart, limit)
    }
  },
  changed: (account, cursor, ms, signal) => feed.changed(account, cursor, ms, signal),
})

/** Tries under way at a time to receivers that took the last one, and to those that did not. */
const TAKING = 256
const FAILING = 64

/**
 * Where tries wait for their turn. Those who failed the last time have places of their own: any number of receivers that hang
 * keep none of the others waiting, but for the first time that they hang.
 */
export class Places {
  readonly #taking: FairSemaphore
  readonly #failing: FairSemaphore

  constructor({ taking = TAKING, failing = FAILING } = {}) {
    this.#taking = new FairSemaphore(taking)
    this.#failing = new FairSemaphore(failing)
  }

  /** Resolves when this account may try; what it resolves with ends the try. */
  enter(owner: number, hasFailed: boolean): Promise<() => void> {
    const semaphore = hasFailed ? this.#failing : this.#taking
    return semaphore.acquire({ names: [`account-${owner}`], first: false })
  }
}

/** What deliveries are made with. */
export type LaneTools = {
  readonly writing: Writing
  readonly secrets: WebhookSecrets
  readonly feed: PushedFeed
  readonly progresses: Pick<WebhookProgresses, 'find' | 'keep'>
  readonly places: Places
  readonly send: Send
  /** Resolves after so many milliseconds, or when it is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Told of each try. */
  readonly tried: (outcome: Outcome) => void
}

/** Changes that are asked for at a time: a slow receiver gets them as they were when they were asked for. */
const AT_ONCE = 20

/** Milliseconds after which one that waits looks whether it is still wanted, and at the clock. */
const LOOK_AGAIN = 60_000

/** Milliseconds between two notes in the log of how far a webhook has come. */
const NOTE_EVERY = 3_600_000

const GONE = 410

/**
 * Delivers one webhook's changes: one at a time, in their order, each until it is taken. It ends when the webhook is paused or
 * gone, or its account is disabled.
 */
export class Lane {
  #nudge = new AbortController()

  constructor(
    private readonly named: Named,
    private readonly tools: LaneTools,
  ) {}

  /** The webhook is not as it was, perhaps: whatever is waited for, it is looked at now. */
  nudge(): void {
    this.#nudge.abort()
  }

  /** @throws what the stores throw; the signal's reason, where it is stopped within a try */
  async run(signal: AbortSignal): Promise<void> {
    const { feed } = this.tools
    while (!signal.aborted) {
      this.#nudge = new AbortController()
      const webhook = await this.#wanted()
      if (webhook === undefined) return
      const progress = await this.#progressOf(webhook)
      const waiting = AbortSignal.any([signal, this.#nudge.signal])
      const rest = progress.next - this.tools.writing.clock()
      if (rest > 0) {
        await this.tools.sleep(Math.min(rest, LOOK_AGAIN), waiting)
        continue
      }
      const { changes, next } = await feed.after(this.named.owner, progress.cursor, AT_ONCE)
      if (changes.length === 0) await feed.changed(this.named.owner, next, LOOK_AGAIN, waiting)
      else await this.#deliver(webhook, progress, changes, signal)
    }
  }

  /** As the log has it now. Undefined where nothing is to be delivered. */
  async #wanted(): Promise<Webhook | undefined> {
    const { owner, id } = this.named
    const { writing, secrets } = this.tools
    const account = await load(writing.store, accountStream(owner), accountDecider)
    if (account.state.status !== 'enabled') return undefined
    const found = (await webhooksOf(writing.store, owner)).find((one) => one.id === id)
    if (found === undefined || found.state === 'paused') return undefined
    if (!found.secrets.every(({ sealed }) => secrets.isCurrent(sealed))) {
      await resealWebhook({ ...writing, secrets }, this.named)
      return this.#wanted()
    }
    return found
  }

  /** What was lost with the read store goes on from what the log was told last. */
  async #progressOf({ id, cursor, begun }: Webhook): Promise<WebhookProgress> {
    const found = await this.tools.progresses.find(id)
    const noted = this.tools.writing.clock()
    if (found === undefined) return { cursor, begun, failures: null, next: 0, noted, tries: 0 }
    return found.begun === begun ? found : { ...found, begun, failures: null, next: 0 }
  }

  async #deliver(
    webhook: Webhook,
    before: WebhookProgress,
    changes: readonly Change[],
    signal: AbortSignal,
  ): Promise<void> {
    let progress: WebhookProgress | undefined = before
    for (const change of changes) {
      if (signal.aborted || this.#nudge.signal.aborted) return
      progress = await this.#tryOne(webhook, progress, change, signal)
      if (progress === undefined) return
    }
  }

  /** @returns undefined where it was not taken */
  async #tryOne(
    webhook: Webhook,
    before: WebhookProgress,
    change: Change,
    signal: AbortSignal,
  ): Promise<WebhookProgress | undefined> {
    const { writing, secrets, send, places, progresses, tried } = this.tools
    const leave = await places.enter(this.named.owner, before.failures !== null)
    try {
      if (signal.aborted) return undefined
      const at = writing.clock()
      const message = messageOf(webhook, change, at)
      const trace = await traceOfChange(writing.store, change)
      const outcome = await send(webhook.url, signed(webhook, message, secrets, at, trace), signal)
      const { progress, news } = after(
        webhook,
        { ...before, tries: before.tries + 1 },
        change.cursor,
        outcome,
        writing.clock(),
      )
      await progresses.keep(webhook.id, progress, deliveryOf(change, at, outcome))
      tried(outcome)
      if (news !== undefined) await noteDelivery(writing, this.named, news)
      // What the log has is looked at again: it failed, or it is not failing any more.
      return outcome.error === null && news === undefined ? progress : undefined
    } finally {
      leave()
    }
  }
}

const deliveryOf = ({ cursor }: Change, at: number, { status, ms, error }: Outcome): Delivery => ({
  cursor,
  at,
  status,
  ms,
  error,
})

type After = { readonly progress: WebhookProgress; readonly news: DeliveryNews | undefined }

/** What a try changes: how far the webhook is, and what the log is told. */
function after(
  webhook: Webhook,
  tried: WebhookProgress,
  cursor: string,
  { status, error }: Outcome,
  now: number,
): After {
  if (error === null) return afterSuccess(webhook, { ...tried, cursor, failures: null, next: 0 }, now)
  const { failures, next, isLong } = afterFailure(tried.failures, now)
  const progress = { ...tried, failures, next }
  const last = tried.cursor
  if (status === GONE) return { progress, news: { what: 'paused', why: 'gone', cursor: last, error } }
  if (!isLong) return { progress, news: undefined }
  if (webhook.state === 'failing') return { progress, news: { what: 'paused', why: 'failing', cursor: last, error } }
  return { progress, news: { what: 'failing', cursor: last, error } }
}

function afterSuccess(webhook: Webhook, progress: WebhookProgress, now: number): After {
  const { cursor, noted } = progress
  if (webhook.state === 'failing') return { progress: { ...progress, noted: now }, news: { what: 'recovered', cursor } }
  if (now - noted < NOTE_EVERY) return { progress, news: undefined }
  return { progress: { ...progress, noted: now }, news: { what: 'progressed', cursor } }
}
