import type { Writing } from '../../commands/core/handle.ts'
import { LinkKeys, type LinkKey } from '../../commands/installation/link-key.ts'
import { LINK_KEY_STREAM } from '../../domain/installation/keys.ts'
import { type Named } from '../../commands/webhooks/webhooks.ts'
import { ownerOf, WEBHOOK_STREAMS } from '../../domain/webhook/webhook.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import type { Progress } from '../../projections/engine/progress.ts'
import { reaction } from '../../projections/engine/reaction.ts'
import type { WebhookProgresses } from '../../projections/webhooks/webhooks.ts'
import type { Log } from '../../runtime/log.ts'
import { Interruption } from '../../runtime/outages.ts'
import { WakeablePause } from '../../runtime/wakeable-pause.ts'
import type { Position, StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { Lane, type LaneTools } from './lane.ts'

/** The key that signs the links in what is sent, for a process that answers no requests perhaps, and so has no other one's. */
export class SendingLinkKeys {
  #keys: LinkKeys | undefined

  constructor(
    private readonly writing: Writing,
    private readonly keys: MasterKeys,
  ) {}

  /** To be called before anything is sent: others may have made another key meanwhile. @throws WrongMasterKey, StoreUnavailable */
  async begin(): Promise<void> {
    this.#keys = await LinkKeys.open(this.writing, this.keys)
  }

  get current(): LinkKey {
    if (this.#keys === undefined) throw new Error('links are signed before a key was read')
    return this.#keys.current
  }

  note(event: StoredEvent): void {
    this.#keys?.note(event)
  }
}

export type DelivererTools = Omit<LaneTools, 'progresses'> & {
  readonly progresses: WebhookProgresses
  /** The read model of webhooks. */
  readonly known: { readonly model: Pick<ReadModel, 'find'>; readonly progress: Progress }
  readonly linkKeys: SendingLinkKeys
  readonly log: Log
}

/** Milliseconds between two looks at which webhooks there are, unless one is known to have changed. */
const LOOK_EVERY = 2_000

/** Milliseconds before a webhook whose delivery met a store's fault is taken up again. */
const REST = 1_000

/** Webhooks that are looked up at a time. */
const PAGE = 1_000

type Running = { readonly lane: Lane; readonly done: Promise<void> }

/** Keeps a lane for each webhook that is not paused, as long as this process is the one that delivers. */
export class Deliverer {
  readonly #lanes = new Map<number, Running>()
  readonly #owners = new Map<number, Set<number>>()
  readonly #pause = new WakeablePause()
  readonly #interruption: Interruption

  constructor(private readonly tools: DelivererTools) {
    this.#interruption = new Interruption('webhook-deliveries', tools.log)
  }

  /** An account's webhooks are not as they were. Those that are new are found when the read model has them. */
  async changed(owners: Iterable<number>, position: Position): Promise<void> {
    for (const owner of owners) {
      for (const id of this.#owners.get(owner) ?? []) this.#lanes.get(id)?.lane.nudge()
    }
    await this.tools.known.progress.reached(position, LOOK_EVERY)
    this.#pause.wake()
  }

  /** Another key that signs links, perhaps. */
  note(event: StoredEvent): void {
    this.tools.linkKeys.note(event)
  }

  /** What was kept of one that is deleted goes too. @throws StoreUnavailable */
  async forget(webhook: number): Promise<void> {
    await this.tools.progresses.begin()
    await this.tools.progresses.forget(webhook)
  }

  /** Delivers until it is stopped; then nothing of it is under way any more. @throws what the stores throw */
  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#pause.wake()
    signal.addEventListener('abort', wake, { once: true })
    try {
      await this.tools.linkKeys.begin()
      await this.tools.progresses.begin()
      while (!signal.aborted) {
        for await (const named of this.#open()) this.#start(named, signal)
        if (!signal.aborted) await this.#pause.sleep(LOOK_EVERY)
      }
    } finally {
      signal.removeEventListener('abort', wake)
      await Promise.all([...this.#lanes.values()].map(({ done }) => done))
    }
  }

  async *#open(): AsyncGenerator<Named> {
    for (let from = 0; ;) {
      const found = await this.tools.known.model.find({
        where: { open: 1, id: { from } },
        order: [['id', 'asc']],
        limit: PAGE,
        offset: 0,
        select: ['id', 'owner'],
      })
      for (const { id, owner } of found) yield { id: Number(id), owner: Number(owner) }
      if (found.length < PAGE) return
      from = Number(found.at(-1)?.['id']) + 1
    }
  }

  #start(named: Named, signal: AbortSignal): void {
    if (this.#lanes.has(named.id)) return
    const lane = new Lane(named, this.tools)
    this.#lanes.set(named.id, { lane, done: this.#follow(named, lane, signal) })
    const ids = this.#owners.get(named.owner) ?? new Set()
    this.#owners.set(named.owner, ids.add(named.id))
  }

  async #follow(named: Named, lane: Lane, signal: AbortSignal): Promise<void> {
    try {
      await lane.run(signal)
      this.#interruption.over()
    } catch (error) {
      if (!signal.aborted) {
        this.#interruption.failed(error)
        await this.tools.sleep(REST, signal)
      }
    } finally {
      this.#lanes.delete(named.id)
      this.#owners.get(named.owner)?.delete(named.id)
    }
  }
}

export type DeliveryTools = { readonly deliverer: Deliverer }

/**
 * Pushes accounts' change feeds to their webhooks, in one process at a time. The events of webhooks only wake it: what is to be
 * sent is the feed's to say, and how far each has come stands beside its checkpoint.
 */
export const webhookDeliveries = reaction<DeliveryTools>({
  name: 'webhook-deliveries',
  follows: [WEBHOOK_STREAMS, LINK_KEY_STREAM, RESTORES_STREAM],
  reacting:
    ({ deliverer }) =>
    async (events) => {
      for (const event of events) {
        // Looked at by its name alone, so that what a newer release deletes goes too.
        if (event.type === 'WebhookDeleted') await deliverer.forget(Number(event.data['id']))
        else deliverer.note(event)
      }
      const hooks = events.filter(({ stream }) => stream.startsWith(WEBHOOK_STREAMS))
      const last = hooks.at(-1)
      if (last === undefined) return
      await deliverer.changed(new Set(hooks.map(({ stream }) => ownerOf(stream))), last.position)
    },
  beside:
    ({ deliverer }) =>
    (signal) =>
      deliverer.run(signal),
})
