import type { CommandContext } from '../../commands/core/handle.ts'
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

/** The key that signs the links in what is sent, for a process that answers no requests perhaps, and so has no other one's. */
export class DeliveryLinkKeys {
  #keys: LinkKeys | undefined

  constructor(
    private readonly writing: CommandContext,
    private readonly keys: MasterKeys,
  ) {}

  /** To be called before anything is sent: others may have made another key meanwhile. @throws WrongMasterKey, StoreUnavailable */
  async open(): Promise<void> {
    this.#keys = await LinkKeys.open(this.writing, this.keys)
  }

  get current(): LinkKey {
    if (this.#keys === undefined) throw new Error('links are signed before a key was read')
    return this.#keys.current
  }

  applyEvent(event: StoredEvent): void {
    this.#keys?.note(event)
  }
}

export type WebhookDelivererTools = Omit<DeliveryWorkerTools, 'progresses'> & {
  readonly progresses: WebhookProgressStore
  /** The read model of webhooks. */
  readonly webhookModel: { readonly model: Pick<ReadModel, 'find'>; readonly progress: ProjectionProgress }
  readonly linkKeys: DeliveryLinkKeys
  readonly log: AppLogger
}

/** Milliseconds between two looks at which webhooks there are, unless one is known to have changed. */
const POLL_INTERVAL_MS = 2_000

/** Milliseconds before a webhook whose delivery met a store's fault is taken up again. */
const RETRY_DELAY_MS = 1_000

/** Webhooks that are looked up at a time. */
const PAGE_SIZE = 1_000

type RunningDeliveryWorker = { readonly worker: DeliveryWorker; readonly done: Promise<void> }

/** Keeps a lane for each webhook that is not paused, as long as this process is the one that delivers. */
export class WebhookDeliverer {
  readonly #workers = new Map<number, RunningDeliveryWorker>()
  readonly #owners = new Map<number, Set<number>>()
  readonly #pause = new InterruptibleSleep()
  readonly #interruption: Interruption

  constructor(private readonly tools: WebhookDelivererTools) {
    this.#interruption = new Interruption('webhook-deliveries', tools.log)
  }

  /** An account's webhooks are not as they were. Those that are new are found when the read model has them. */
  async onWebhooksChanged(owners: Iterable<number>, position: Position): Promise<void> {
    for (const owner of owners) {
      for (const id of this.#owners.get(owner) ?? []) this.#workers.get(id)?.worker.wake()
    }
    await this.tools.webhookModel.progress.waitForPosition(position, POLL_INTERVAL_MS)
    this.#pause.wake()
  }

  /** Another key that signs links, perhaps. */
  onLinkKeyEvent(event: StoredEvent): void {
    this.tools.linkKeys.applyEvent(event)
  }

  /** What was kept of one that is deleted goes too. @throws StoreUnavailable */
  async deleteProgress(webhook: number): Promise<void> {
    await this.tools.progresses.open()
    await this.tools.progresses.delete(webhook)
  }

  /** Delivers until it is stopped; then nothing of it is under way any more. @throws what the stores throw */
  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#pause.wake()
    signal.addEventListener('abort', wake, { once: true })
    try {
      await this.tools.linkKeys.open()
      await this.tools.progresses.open()
      while (!signal.aborted) {
        for await (const named of this.#open()) this.#start(named, signal)
        if (!signal.aborted) await this.#pause.sleep(POLL_INTERVAL_MS)
      }
    } finally {
      signal.removeEventListener('abort', wake)
      await Promise.all([...this.#workers.values()].map(({ done }) => done))
    }
  }

  async *#open(): AsyncGenerator<WebhookReference> {
    for (let from = 0; ;) {
      const found = await this.tools.webhookModel.model.find({
        where: { open: 1, id: { from } },
        order: [['id', 'asc']],
        limit: PAGE_SIZE,
        offset: 0,
        select: ['id', 'owner'],
      })
      for (const { id, owner } of found) yield { id: Number(id), owner: Number(owner) }
      if (found.length < PAGE_SIZE) return
      from = Number(found.at(-1)?.['id']) + 1
    }
  }

  #start(named: WebhookReference, signal: AbortSignal): void {
    if (this.#workers.has(named.id)) return
    const lane = new DeliveryWorker(named, this.tools)
    this.#workers.set(named.id, { worker: lane, done: this.#follow(named, lane, signal) })
    const ids = this.#owners.get(named.owner) ?? new Set()
    this.#owners.set(named.owner, ids.add(named.id))
  }

  async #follow(named: WebhookReference, lane: DeliveryWorker, signal: AbortSignal): Promise<void> {
    try {
      await lane.run(signal)
      this.#interruption.end()
    } catch (error) {
      if (!signal.aborted) {
        this.#interruption.recordFailure(error)
        await this.tools.sleep(RETRY_DELAY_MS, signal)
      }
    } finally {
      this.#workers.delete(named.id)
      this.#owners.get(named.owner)?.delete(named.id)
    }
  }
}

export type WebhookDeliveryTools = { readonly deliverer: WebhookDeliverer }

/**
 * Pushes accounts' change feeds to their webhooks, in one process at a time. The events of webhooks only wake it: what is to be
 * sent is the feed's to say, and how far each has come stands beside its checkpoint.
 */
export const webhookDeliveries = defineReaction<WebhookDeliveryTools>({
  name: 'webhook-deliveries',
  streamPrefixes: [WEBHOOK_STREAM_PREFIX, LINK_KEY_STREAM, RESTORES_STREAM],
  createHandler:
    ({ deliverer }) =>
    async (events) => {
      for (const event of events) {
        // Looked at by its name alone, so that what a newer release deletes goes too.
        if (event.type === 'WebhookDeleted') await deliverer.deleteProgress(Number(event.data['id']))
        else deliverer.onLinkKeyEvent(event)
      }
      const hooks = events.filter(({ stream }) => stream.startsWith(WEBHOOK_STREAM_PREFIX))
      const last = hooks.at(-1)
      if (last === undefined) return
      await deliverer.onWebhooksChanged(new Set(hooks.map(({ stream }) => webhookOwnerOf(stream))), last.position)
    },
  createCompanionTask:
    ({ deliverer }) =>
    (signal) =>
      deliverer.run(signal),
})
