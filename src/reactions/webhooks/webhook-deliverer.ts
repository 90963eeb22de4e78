import type { CommandContext } from '../../commands/core/command-context.ts'
import { LinkKeys, type LinkKey } from '../../commands/installation/link-key.ts'
import { LINK_KEY_STREAM } from '../../domain/installation/keys.ts'
import { type WebhookReference } from '../../commands/webhooks/webhooks.ts'
import { webhookOwnerOf, WEBHOOK_STREAM_PREFIX } from '../../domain/webhook/webhook.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import type { ProjectionProgress } from '../../projections/engine/progress.ts'
import { defineReaction } from '../../projections/engine/reaction.ts'
import type { WebhookProgressStore } from '../../projections/webhooks/webhooks.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { Interruption } from '../../runtime/outages.ts'
import { InterruptibleSleep } from '../../runtime/interruptible-sleep.ts'
import type { Position, StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { DeliveryWorker, type DeliveryWorkerTools } from './delivery-worker.ts'

/**
 * The key that signs links in deliveries. Separate from the HTTP server's, since the delivering process may not serve
 * requests.
 */
export class DeliveryLinkKeys {
  #keys: LinkKeys | undefined

  constructor(
    private readonly context: CommandContext,
    private readonly keys: MasterKeys,
  ) {}

  /**
   * Must be called before anything is sent; reads keys that other processes have added. @throws WrongMasterKey,
   * StoreUnavailable
   */
  async open(): Promise<void> {
    this.#keys = await LinkKeys.open(this.context, this.keys)
  }

  get current(): LinkKey {
    if (this.#keys === undefined) throw new Error('DeliveryLinkKeys: open() must be called first')
    return this.#keys.current
  }

  applyEvent(event: StoredEvent): void {
    this.#keys?.note(event)
  }
}

type WebhookDelivererTools = Omit<DeliveryWorkerTools, 'progressStore'> & {
  readonly progressStore: WebhookProgressStore
  readonly webhookModel: { readonly model: Pick<ReadModel, 'find'>; readonly progress: ProjectionProgress }
  readonly linkKeys: DeliveryLinkKeys
  readonly log: AppLogger
}

/** Milliseconds between two polls of the list of webhooks, unless a change wakes it. */
const POLL_INTERVAL_MS = 2_000

/** Milliseconds before a worker restarts after a store's failure. */
const RETRY_DELAY_MS = 1_000

/** Webhooks read at a time. */
const PAGE_SIZE = 1_000

type RunningDeliveryWorker = { readonly worker: DeliveryWorker; readonly done: Promise<void> }

/** Runs a worker for each webhook that is not paused, in the process that holds the lease. */
export class WebhookDeliverer {
  readonly #workers = new Map<number, RunningDeliveryWorker>()
  readonly #webhooksByOwner = new Map<number, Set<number>>()
  readonly #pause = new InterruptibleSleep()
  readonly #interruption: Interruption

  constructor(private readonly tools: WebhookDelivererTools) {
    this.#interruption = new Interruption('webhook-deliveries', tools.log)
  }

  /** Wakes the workers of accounts whose webhooks have changed. New webhooks start when the read model has them. */
  async onWebhooksChanged(owners: Iterable<number>, position: Position): Promise<void> {
    for (const owner of owners) {
      for (const id of this.#webhooksByOwner.get(owner) ?? []) this.#workers.get(id)?.worker.wake()
    }
    await this.tools.webhookModel.progress.waitForPosition(position, POLL_INTERVAL_MS)
    this.#pause.wake()
  }

  onLinkKeyEvent(event: StoredEvent): void {
    this.tools.linkKeys.applyEvent(event)
  }

  /** Deletes the stored progress of a deleted webhook. @throws StoreUnavailable */
  async deleteProgress(webhook: number): Promise<void> {
    await this.tools.progressStore.open()
    await this.tools.progressStore.delete(webhook)
  }

  /** Delivers until stopped, then waits for attempts under way. @throws errors of the stores */
  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#pause.wake()
    signal.addEventListener('abort', wake, { once: true })
    try {
      await this.tools.linkKeys.open()
      await this.tools.progressStore.open()
      while (!signal.aborted) {
        for await (const reference of this.#openWebhooks()) this.#startWorker(reference, signal)
        if (!signal.aborted) await this.#pause.sleep(POLL_INTERVAL_MS)
      }
    } finally {
      signal.removeEventListener('abort', wake)
      await Promise.all([...this.#workers.values()].map(({ done }) => done))
    }
  }

  async *#openWebhooks(): AsyncGenerator<WebhookReference> {
    for (let from = 0; ;) {
      const page = await this.tools.webhookModel.model.find({
        where: { open: 1, id: { from } },
        order: [['id', 'asc']],
        limit: PAGE_SIZE,
        offset: 0,
        select: ['id', 'owner'],
      })
      for (const { id, owner } of page) yield { id: Number(id), owner: Number(owner) }
      if (page.length < PAGE_SIZE) return
      from = Number(page.at(-1)?.['id']) + 1
    }
  }

  #startWorker(reference: WebhookReference, signal: AbortSignal): void {
    if (this.#workers.has(reference.id)) return
    const worker = new DeliveryWorker(reference, this.tools)
    this.#workers.set(reference.id, { worker, done: this.#runWorker(reference, worker, signal) })
    const ids = this.#webhooksByOwner.get(reference.owner) ?? new Set()
    this.#webhooksByOwner.set(reference.owner, ids.add(reference.id))
  }

  async #runWorker(reference: WebhookReference, worker: DeliveryWorker, signal: AbortSignal): Promise<void> {
    try {
      await worker.run(signal)
      this.#interruption.end()
    } catch (error) {
      if (!signal.aborted) {
        this.#interruption.recordFailure(error)
        await this.tools.sleep(RETRY_DELAY_MS, signal)
      }
    } finally {
      this.#workers.delete(reference.id)
      this.#webhooksByOwner.get(reference.owner)?.delete(reference.id)
    }
  }
}

export type WebhookDeliveryTools = { readonly deliverer: WebhookDeliverer }

/**
 * Delivers accounts' change feeds to their webhooks, in one process at a time. Webhook events only wake the workers:
 * the change feed has what to send, and each webhook's progress is stored with the checkpoint.
 */
export const webhookDeliveries = defineReaction<WebhookDeliveryTools>({
  name: 'webhook-deliveries',
  streamPrefixes: [WEBHOOK_STREAM_PREFIX, LINK_KEY_STREAM, RESTORES_STREAM],
  createHandler:
    ({ deliverer }) =>
    async (events) => {
      for (const event of events) {
        // Reads only the type and id, so that deletions by newer releases count too.
        if (event.type === 'WebhookDeleted') await deliverer.deleteProgress(Number(event.data['id']))
        else deliverer.onLinkKeyEvent(event)
      }
      const webhookEvents = events.filter(({ stream }) => stream.startsWith(WEBHOOK_STREAM_PREFIX))
      const last = webhookEvents.at(-1)
      if (last === undefined) return
      await deliverer.onWebhooksChanged(
        new Set(webhookEvents.map(({ stream }) => webhookOwnerOf(stream))),
        last.position,
      )
    },
  createCompanionTask:
    ({ deliverer }) =>
    (signal) =>
      deliverer.run(signal),
})
