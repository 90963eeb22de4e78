import { logLineage } from '../../events/lineage.ts'
import {
  webhookOwnerOf,
  WEBHOOK_STREAM_PREFIX,
  webhooksFold,
  type DeliveryFailures,
  type Webhook,
  type WebhookEvent,
} from '../../domain/webhook/webhook.ts'
import { decode } from '../../events/decode.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import {
  ReadModelLost,
  type ReadModelBuild,
  type Document,
  type ModelDeclaration,
  type ReadModel,
  type ReadStore,
  type DocumentWrite,
} from '../../stores/ports/read-store.ts'
import { openBuildOfLog } from '../engine/checkpoint.ts'
import { defineReadModel } from '../engine/read-model.ts'

/** A webhook, its owner, and the revision of the account's stream at its last change. */
type WebhookView = { readonly webhook: Webhook; readonly owner: number; readonly revision: number }

/**
 * The webhooks of all accounts: finds the owner of a webhook, since requests name only its id, and the webhooks to
 * deliver. `open` is 1 unless the webhook is paused.
 */
export const webhooks = defineReadModel<WebhookView>({
  name: 'webhooks',
  version: 1,
  streamPrefixes: [WEBHOOK_STREAM_PREFIX],
  documents: {
    fields: { id: 'integer', owner: 'integer', open: 'integer' },
    texts: ['state'],
    indexes: [['open', 'id']],
    counts: [],
  },
  keyOf: (event) => decode<WebhookEvent>(event).data.id,
  createsDocument: ({ type }) => type === 'WebhookCreated',
  evolve,
  toDocument: ({ webhook, owner, revision }) => ({
    id: webhook.id,
    owner,
    open: webhook.state === 'paused' ? 0 : 1,
    state: JSON.stringify({ webhook, owner, revision }),
  }),
  fromDocument: ({ state }) => JSON.parse(String(state)) as WebhookView,
})

function evolve(view: WebhookView | undefined, event: StoredEvent): WebhookView | undefined {
  const revision = Number(event.revision)
  if (view !== undefined && revision <= view.revision) return view
  const before = view === undefined ? webhooksFold.initialState : [view.webhook]
  const [webhook] = webhooksFold.evolve(before, decode<WebhookEvent>(event))
  return webhook === undefined ? undefined : { webhook, owner: webhookOwnerOf(event.stream), revision }
}

/** One delivery attempt as its owner sees it. `at` in milliseconds since 1970; `status` null without a response. */
export type DeliveryAttempt = {
  readonly cursor: string
  readonly at: number
  readonly status: number | null
  readonly ms: number
  readonly error: string | null
}

export type WebhookProgress = {
  /** All changes up to it have been delivered. */
  readonly cursor: string
  /** The `begun` of the webhook that `failures` refers to. */
  readonly begun: number
  readonly failures: DeliveryFailures | null
  /** When the next attempt is due, and when the cursor was last recorded in the log; milliseconds since 1970. */
  readonly next: number
  readonly noted: number
  readonly tries: number
}

const MAX_STORED_ATTEMPTS = 100

/**
 * Delivery progress is not folded from the log, which would need an event for each attempt, and is not rebuilt with the
 * read models. One document for each webhook (`number` 0), and one for each of its last attempts.
 */
export const webhookProgress: ModelDeclaration = {
  name: 'webhook-progress',
  version: 1,
  fields: { id: 'text', webhook: 'integer', number: 'integer' },
  texts: ['state'],
  indexes: [['webhook', 'number']],
  counts: [],
}

/** Stores delivery progress with the read models, like checkpoints. */
export class WebhookProgressStore {
  #opened: OpenProgress | undefined

  constructor(
    private readonly reads: ReadStore,
    private readonly store: EventStore,
  ) {}

  /** Discards the progress of another log, or of an epoch lost in a restore. */
  async open(): Promise<OpenProgress> {
    const lineage = await logLineage(this.store)
    return (this.#opened = { build: await openBuildOfLog(this.reads, this.store, webhookProgress), lineage })
  }

  /** Undefined if nothing was attempted yet, or the progress was lost. */
  find(webhook: number): Promise<WebhookProgress | undefined> {
    return this.#use(async ({ build }) => {
      const [stored] = await build.load([keyOf(webhook)])
      return stored && (JSON.parse(String(stored.document['state'])) as WebhookProgress)
    })
  }

  /** Writes the progress and the attempt that led to it in one write. */
  save(webhook: number, progress: WebhookProgress, attempt: DeliveryAttempt): Promise<void> {
    const { tries } = progress
    return this.#use((opened) =>
      write(opened, [
        toPut(keyOf(webhook), webhook, 0, tries, progress),
        toPut(keyOf(webhook, tries), webhook, tries, tries, attempt),
      ]),
    )
  }

  delete(webhook: number): Promise<void> {
    const keys = [keyOf(webhook), ...Array.from({ length: MAX_STORED_ATTEMPTS }, (_, index) => keyOf(webhook, index))]
    return this.#use(async (opened) => {
      const stored = await opened.build.load(keys)
      await write(
        opened,
        stored.map(({ document, revision }) => ({ remove: String(document['id']), revision: revision + 1n })),
      )
    })
  }

  /** After the build was lost, the next use opens another one. */
  async #use<Result>(work: (opened: OpenProgress) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#opened ?? (await this.open()))
    } catch (error) {
      if (error instanceof ReadModelLost) this.#opened = undefined
      throw error
    }
  }
}

type OpenProgress = { readonly build: ReadModelBuild; readonly lineage: string }

/** All writes have the same checkpoint, so revisions decide; it only names the log. */
const write = ({ build, lineage }: OpenProgress, writes: readonly DocumentWrite[]): Promise<void> =>
  build.write(writes, { position: 'start', log: lineage, event: null })

/** The last attempts of a webhook, newest first; any process may read them. */
export async function openDeliveryAttempts(
  reads: ReadStore,
): Promise<(webhook: number) => Promise<readonly DeliveryAttempt[]>> {
  const model: ReadModel = await reads.model(webhookProgress)
  return async (webhook) => {
    const documents = await model.find({
      where: { webhook, number: { from: 1 } },
      order: [['number', 'desc']],
      limit: MAX_STORED_ATTEMPTS,
      offset: 0,
      select: ['state'],
    })
    return documents.map(({ state }: Document) => JSON.parse(String(state)) as DeliveryAttempt)
  }
}

const keyOf = (webhook: number, tries?: number) =>
  tries === undefined ? `${webhook}` : `${webhook}/${tries % MAX_STORED_ATTEMPTS}`

const toPut = (id: string, webhook: number, number: number, revision: number, state: object): DocumentWrite => ({
  put: { id, webhook, number, state: JSON.stringify(state) },
  revision: BigInt(revision),
})
