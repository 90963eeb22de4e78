import {
  webhooksFold,
  webhooksStream,
  type DeliveryStateChange,
  type Webhook,
  type WebhookChange,
  type WebhookEvent,
  type Webhooks,
} from '../../domain/webhook/webhook.ts'
import type { WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import * as domain from '../../domain/webhook/webhook.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { EventStore, Position } from '../../stores/ports/event-store.ts'
import { handle, type Decide } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import { loadStream } from '../../events/load-stream.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'
import { faultOfUrl, type WebhookRules } from './webhook-url.ts'

export type WebhookCommandContext = CommandContext & {
  readonly webhookIds: Pick<IdAllocator, 'take'>
  readonly secrets: WebhookSecrets
  readonly rules: WebhookRules
  /** The cursor of the current end of an account's change feed. */
  readonly feedEnd: (account: number) => Promise<string>
}

/** `position` is that of the last event; undefined if nothing changed. */
type ChangedWebhook = { readonly webhook: Webhook; readonly position: Position | undefined }

export const MAX_DESCRIPTION_LENGTH = 500

/** @throws StoreUnavailable */
export const webhooksOf = async (store: Pick<EventStore, 'readStream'>, account: number): Promise<Webhooks> =>
  (await loadStream(store, webhooksStream(account), webhooksFold)).state

/**
 * Starts pushing an account's change feed to a URL, from now on.
 * @returns also the signing secret, which is returned only here
 * @throws RequestError 'invalid' for a URL that is not allowed, or if the account has the maximum number of webhooks
 */
export async function createWebhook(
  context: WebhookCommandContext,
  owner: number,
  { url, description }: { readonly url: string; readonly description: string | null },
  origin: Origin,
): Promise<ChangedWebhook & { readonly secret: string }> {
  checkUrl(url, context.rules)
  checkDescription(description)
  const { secrets } = context
  const secret = secrets.generate()
  const [id, cursor] = [await context.webhookIds.take(), await context.feedEnd(owner)]
  const newWebhook = { id, url, description, secret: secrets.seal(secret, id), cursor }
  const changed = await change(context, owner, id, origin, (state, now) => domain.createWebhook(state, newWebhook, now))
  return { ...changed, secret }
}

/** @throws RequestError 'missing', or 'invalid' for a URL that is not allowed */
export function changeWebhook(
  context: Pick<WebhookCommandContext, keyof CommandContext | 'rules'>,
  { owner, id }: WebhookReference,
  webhookChange: WebhookChange,
  origin: Origin,
): Promise<ChangedWebhook> {
  if (webhookChange.url !== undefined) checkUrl(webhookChange.url, context.rules)
  return change(context, owner, id, origin, (state) => domain.changeWebhook(state, id, webhookChange))
}

export type WebhookReference = { readonly owner: number; readonly id: number }

/** The previous secret keeps signing for another 24 hours, alongside the new one. @throws RequestError 'missing' */
export async function rotateWebhookSecret(
  context: Pick<WebhookCommandContext, keyof CommandContext | 'secrets'>,
  { owner, id }: WebhookReference,
  origin: Origin,
): Promise<ChangedWebhook & { readonly secret: string }> {
  const secret = context.secrets.generate()
  const sealed = context.secrets.seal(secret, id)
  const decide: Decide<Webhooks, WebhookEvent> = (state, now) => domain.rotateWebhookSecret(state, id, sealed, now)
  return { ...(await change(context, owner, id, origin, decide)), secret }
}

/** @throws RequestError 'missing' */
export async function deleteWebhook(
  context: CommandContext,
  { owner, id }: WebhookReference,
  origin: Origin,
): Promise<Pick<ChangedWebhook, 'position'>> {
  const target = { stream: webhooksStream(owner), origin }
  return handle(context, target, webhooksFold, (state) => domain.deleteWebhook(state, id))
}

/** Records a change of a webhook's delivery state. @returns undefined if nothing was recorded */
export async function recordDelivery(
  context: CommandContext,
  { owner, id }: WebhookReference,
  stateChange: DeliveryStateChange,
): Promise<Position | undefined> {
  const origin: Origin = { actor: 'service', via: 'projection', correlation: `webhook-${id}` }
  const target = { stream: webhooksStream(owner), origin }
  return (await handle(context, target, webhooksFold, (state) => domain.recordDelivery(state, id, stateChange)))
    .position
}

/** Re-seals a webhook's secrets after a rotation of the master key. @throws SealedByAnotherKey */
export async function resealWebhook(
  { secrets, ...context }: Pick<WebhookCommandContext, keyof CommandContext | 'secrets'>,
  { owner, id }: WebhookReference,
): Promise<void> {
  const origin: Origin = { actor: 'service', via: 'projection', correlation: `webhook-${id}` }
  await handle(context, { stream: webhooksStream(owner), origin }, webhooksFold, (state): WebhookEvent[] => {
    const storedSecrets = state.find((one) => one.id === id)?.secrets ?? []
    if (storedSecrets.every(({ sealed }) => secrets.isCurrent(sealed))) return []
    const resealed = storedSecrets.map(({ sealed }) => secrets.seal(secrets.open(sealed, id), id))
    return [{ type: 'WebhookSecretsResealed', data: { id, secrets: resealed } }]
  })
}

async function change(
  context: CommandContext,
  owner: number,
  id: number,
  origin: Origin,
  decide: Decide<Webhooks, WebhookEvent>,
): Promise<ChangedWebhook> {
  const { state, position } = await handle(context, { stream: webhooksStream(owner), origin }, webhooksFold, decide)
  return { webhook: domain.requireWebhook(state, id), position }
}

function checkDescription(description: string | null): void {
  if (description === null || description.length <= MAX_DESCRIPTION_LENGTH) return
  const message = `A description must have at most ${MAX_DESCRIPTION_LENGTH} characters, got ${description.length}`
  throw new RequestError('invalid', [{ pointer: '/description', message, code: 'range' }])
}

function checkUrl(url: string, rules: WebhookRules): void {
  const message = faultOfUrl(url, rules)
  if (message !== undefined) throw new RequestError('invalid', [{ pointer: '/url', message, code: 'format' }])
}
