import { signaturesOf, type WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import { signingSecrets, type Webhook } from '../../domain/webhook/webhook.ts'
import type { Change } from '../../projections/diamonds/change-feed.ts'
import { VERSION } from '../../runtime/version.ts'
import type { Send } from './send.ts'

/** @property id the same for every try of a message */
export type Message = { readonly id: string; readonly body: string }

/** What is told of a stone: the element of the feed as it is. @param now milliseconds since 1970 */
export function messageOf({ id }: Pick<Webhook, 'id'>, { cursor, what, text }: Change, now: number): Message {
  const type = what.includes('deleted') ? 'deleted' : what.includes('created') ? 'created' : 'changed'
  const head = `{"type":"diamond.${type}","timestamp":"${new Date(now).toISOString()}"`
  return { id: `msg_${id}_${cursor}`, body: `${head},"data":${text}}` }
}

/** What a receiver is tried out with. @param one tells it from every other */
export function testMessage({ id }: Pick<Webhook, 'id'>, one: string, now: number): Message {
  const body = { type: 'webhook.test', timestamp: new Date(now).toISOString(), data: { webhook: id } }
  return { id: `msg_${id}_test_${one}`, body: JSON.stringify(body) }
}

/** A message as it goes out now, signed with each secret that signs now.
 * @param trace that it is a part of, as `traceparent` has it
 * @throws SealedByAnotherKey */
export function signed(
  webhook: Webhook,
  { id, body }: Message,
  secrets: Pick<WebhookSecrets, 'open'>,
  now: number,
  trace?: string,
): Parameters<Send>[1] {
  const timestamp = Math.floor(now / 1000)
  const open = signingSecrets(webhook, now).map((sealed) => secrets.open(sealed, webhook.id))
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `Adamant/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signaturesOf(open, { id, timestamp, body }),
    ...(trace !== undefined && { traceparent: trace }),
  }
  return { headers, body }
}
