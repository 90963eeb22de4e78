import { logLineage } from '../../events/lineage.ts'
import {
  webhookOwnerOf,
  WEBHOOK_STREAM_PREFIX,
  webhooksDecider,
  type DeliveryFailures,
  type Webhook,
  type WebhookEvent,
} from '../../domain/webhook/webhook.ts'
import { decode } from '../../events/decode.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type {
  ReadModelBuild,
  Document,
  ModelDeclaration,
  ReadModel,
  ReadStore,
  DocumentWrite,
} from '../../stores/ports/read-store.ts'
import { openBuildOfLog } from '../engine/checkpoint.ts'
import { defineReadModel } from '../engine/read-model.ts'

/** A webhook, whose it is, and the revision that its account's stream had. */
type WebhookView = { readonly webhook: Webhook; readonly owner: number; readonly revision: number }

/**
 * Every account's webhooks: whose one is, since its id is all that a request names, and which are to be delivered. `open` is
 * 1 where one is not paused.
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
  const before = view === undefined ? webhooksDecider.initialState : [view.webhook]
  const [webhook] = webhooksDecider.evolve(before, decode<WebhookEvent>(event))
  return webhook === undefined ? undefined : { webhook, owner: webhookOwnerOf(event.stream), revision }
}

/** One try, as its owner may see it. `at` in milliseconds since 1970, `status` null where nothing was answered. */
export type DeliveryAttempt = {
  readonly cursor: string
  readonly at: number
  readonly status: number | null
  readonly ms: number
  readonly error: string | null
}

/** How far a webhook's deliveries have come. */
export type WebhookProgress = {
  /** Everything up to it was taken by the receiver. */
  readonly cursor: string
  /** The webhook's `begun` that the failures are counted for. */
  readonly begun: number
  readonly failures: DeliveryFailures | null
  /** When the next try is due, and when the log was last told the cursor, in milliseconds since 1970. */
  readonly next: number
  readonly noted: number
  /** Tries so far. */
  readonly tries: number
}

/** Tries that are kept of each webhook. */
const MAX_STORED_ATTEMPTS = 100

/**
 * How far deliveries have come is no fold of the log, which would hold an event for each of them; nor is it made anew with
 * the read models. A document a webhook (`number` 0), and one for each of its last tries.
 */
const declaration: ModelDeclaration = {
  name: 'webhook-progress',
  version: 1,
  fields: { id: 'text', webhook: 'integer', number: 'integer' },
  texts: ['state'],
  indexes: [['webhook', 'number']],
  counts: [],
}

/** Where progress is kept, with the read models and like checkpoints. */
export class WebhookProgressStore {
  #build: { readonly build: ReadModelBuild; readonly line: string } | undefined

  constructor(
    private readonly reads: ReadStore,
    private readonly store: EventStore,
  ) {}

  /** To be called before anything is written: another log's progress, or that of days which are lost, is worth nothing. */
  async open(): Promise<void> {
    const line = await logLineage(this.store)
    this.#build = { build: await openBuildOfLog(this.reads, this.store, declaration), line }
  }

  /** Undefined where nothing was tried yet, or it was lost. */
  async find(webhook: number): Promise<WebhookProgress | undefined> {
    const [stored] = await this.#begun.build.load([keyOf(webhook)])
    return stored && (JSON.parse(String(stored.document['state'])) as WebhookProgress)
  }

  /** Both in one write: how far it is now, and the try that brought it there. */
  async save(webhook: number, progress: WebhookProgress, delivery: DeliveryAttempt): Promise<void> {
    const { tries } = progress
    await this.#write([
      toPut(keyOf(webhook), webhook, 0, tries, progress),
      toPut(keyOf(webhook, tries), webhook, tries, tries, delivery),
    ])
  }

  /** Of a webhook that is deleted. */
  async delete(webhook: number): Promise<void> {
    const keys = [keyOf(webhook), ...Array.from({ length: MAX_STORED_ATTEMPTS }, (_, at) => keyOf(webhook, at))]
    const stored = await this.#begun.build.load(keys)
    await this.#write(
      stored.map(({ document, revision }) => ({ remove: String(document['id']), revision: revision + 1n })),
    )
  }

  /** All are written at one checkpoint, where revisions decide: it only says of which log they are. */
  async #write(writes: readonly DocumentWrite[]): Promise<void> {
    const { build, line } = this.#begun
    await build.write(writes, { position: 'start', log: line, event: null })
  }

  get #begun() {
    if (this.#build === undefined) throw new Error('progress is looked for before it was begun')
    return this.#build
  }
}

/** The last tries of a webhook, the newest first, for whichever process asks. */
export async function openDeliveryAttempts(
  reads: ReadStore,
): Promise<(webhook: number) => Promise<readonly DeliveryAttempt[]>> {
  const model: ReadModel = await reads.model(declaration)
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
