import { accountDecider } from '../../domain/account/account.ts'
import { accountStream } from '../../commands/accounts/accounts.ts'
import { load } from '../../commands/core/load.ts'
import type { Writing } from '../../commands/core/handle.ts'
import { noteDelivery, resealWebhook, webhooksOf, type Named } from '../../commands/webhooks/webhooks.ts'
import type { WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import type { DeliveryNews, Webhook } from '../../domain/webhook/webhook.ts'
import { afterFailure } from '../../domain/webhook/retries.ts'
import type { Change } from '../../projections/diamonds/change-feed.ts'
import type { Delivery, WebhookProgress, WebhookProgresses } from '../../projections/webhooks/webhook-progress.ts'
import { traceOfChange } from './change-trace.ts'
import { messageOf, signed } from './message.ts'
import type { PushedFeed } from './pushed-feed.ts'
import type { Places } from './places.ts'
import type { Outcome, Send } from './send.ts'

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
