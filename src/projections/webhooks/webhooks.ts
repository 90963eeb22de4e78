import { webhooksDecider, type Webhook, type WebhookEvent } from '../../domain/webhook/webhook.ts'
import { ownerOf, WEBHOOK_STREAMS } from '../../commands/webhooks/webhooks.ts'
import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { readModel } from '../engine/read-model.ts'

/** A webhook, whose it is, and the revision that its account's stream had. */
type WebhookView = { readonly webhook: Webhook; readonly owner: number; readonly revision: number }

/**
 * Every account's webhooks: whose one is, since its id is all that a request names, and which are to be delivered. `open` is
 * 1 where one is not paused.
 */
export const webhooks = readModel<WebhookView>({
  name: 'webhooks',
  version: 1,
  follows: [WEBHOOK_STREAMS],
  documents: {
    fields: { id: 'integer', owner: 'integer', open: 'integer' },
    texts: ['state'],
    indexes: [['open', 'id']],
    counts: [],
  },
  keyOf: (event) => decode<WebhookEvent>(event).data.id,
  begins: ({ type }) => type === 'WebhookCreated',
  apply,
  toDocument: ({ webhook, owner, revision }) => ({
    id: webhook.id,
    owner,
    open: webhook.state === 'paused' ? 0 : 1,
    state: JSON.stringify({ webhook, owner, revision }),
  }),
  fromDocument: ({ state }) => JSON.parse(String(state)) as WebhookView,
})

function apply(view: WebhookView | undefined, event: StoredEvent): WebhookView | undefined {
  const revision = Number(event.revision)
  if (view !== undefined && revision <= view.revision) return view
  const before = view === undefined ? webhooksDecider.initialState : [view.webhook]
  const [webhook] = webhooksDecider.evolve(before, decode<WebhookEvent>(event))
  return webhook === undefined ? undefined : { webhook, owner: ownerOf(event.stream), revision }
}
