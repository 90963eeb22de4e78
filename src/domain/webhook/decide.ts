import { Refusal } from '../refusal.ts'
import {
  BOTH_SIGN,
  MOST_WEBHOOKS,
  type PauseReason,
  type Webhook,
  type WebhookEvent,
  type Webhooks,
} from './webhook.ts'

/** What a new webhook is made of. @property secret sealed */
export type NewWebhook = {
  readonly id: number
  readonly url: string
  readonly description: string | null
  readonly secret: string
  readonly cursor: string
}

/** What its owner may change of a webhook; what is left out stays. */
export type WebhookChange = {
  readonly url?: string
  readonly description?: string | null
  readonly state?: 'active' | 'paused'
}

/** @throws Refusal invalid where the account has as many as it may have */
export function createWebhook(webhooks: Webhooks, wanted: NewWebhook, now: number): WebhookEvent[] {
  if (webhooks.length >= MOST_WEBHOOKS) {
    throw new Refusal('invalid', `An account has at most ${MOST_WEBHOOKS} webhooks; delete one that is not needed`)
  }
  return [{ type: 'WebhookCreated', data: { ...wanted, at: now } }]
}

/** @throws Refusal missing */
export function changeWebhook(
  webhooks: Webhooks,
  id: number,
  { url, description, state }: WebhookChange,
): WebhookEvent[] {
  const known = webhookOf(webhooks, id)
  const isOther = url !== undefined && url !== known.url
  const isDescribed = description !== undefined && description !== known.description
  const changed: WebhookEvent[] =
    isOther || isDescribed
      ? [{ type: 'WebhookChanged', data: { id, ...(isOther && { url }), ...(isDescribed && { description }) } }]
      : []
  if (state === 'active' && known.state !== 'active') return [...changed, { type: 'WebhookActivated', data: { id } }]
  if (state !== 'paused' || known.state === 'paused') return changed
  return [...changed, { type: 'WebhookPaused', data: { id, why: 'owner', cursor: null, error: null } }]
}

/** The former secrets sign for another day. @throws Refusal missing */
export function rotateWebhookSecret(webhooks: Webhooks, id: number, secret: string, now: number): WebhookEvent[] {
  webhookOf(webhooks, id)
  return [{ type: 'WebhookSecretRotated', data: { id, secret, until: now + BOTH_SIGN } }]
}

/** @throws Refusal missing */
export function deleteWebhook(webhooks: Webhooks, id: number): WebhookEvent[] {
  webhookOf(webhooks, id)
  return [{ type: 'WebhookDeleted', data: { id } }]
}

/** What came of deliveries, as far as it is for the log. @property why of a pause */
export type DeliveryNews =
  | { readonly what: 'progressed' | 'recovered'; readonly cursor: string }
  | { readonly what: 'failing'; readonly cursor: string; readonly error: string }
  | { readonly what: 'paused'; readonly why: PauseReason; readonly cursor: string; readonly error: string }

/** Nothing where its owner was faster: it is gone, or paused. */
export function noteDelivery(webhooks: Webhooks, id: number, news: DeliveryNews): WebhookEvent[] {
  const known = webhooks.find((one) => one.id === id)
  if (known === undefined || known.state === 'paused') return []
  const { cursor } = news
  switch (news.what) {
    case 'progressed':
      return known.cursor === cursor ? [] : [{ type: 'WebhookProgressed', data: { id, cursor } }]
    case 'recovered':
      return known.state === 'failing' ? [{ type: 'WebhookRecovered', data: { id, cursor } }] : []
    case 'failing':
      return known.state === 'failing' ? [] : [{ type: 'WebhookFailing', data: { id, cursor, error: news.error } }]
    case 'paused':
      return [{ type: 'WebhookPaused', data: { id, why: news.why, cursor, error: news.error } }]
    default:
      return []
  }
}

/** @throws Refusal missing */
export function webhookOf(webhooks: Webhooks, id: number): Webhook {
  const known = webhooks.find((one) => one.id === id)
  if (known === undefined) throw new Refusal('missing', `There is no webhook ${id}`)
  return known
}
