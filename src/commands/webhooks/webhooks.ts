import {
  webhooksDecider,
  webhooksStream,
  type DeliveryStateChange,
  type Webhook,
  type WebhookChange,
  type WebhookEvent,
  type Webhooks,
} from '../../domain/webhook/webhook.ts'
import type { WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import * as domain from '../../domain/webhook/webhook.ts'
import { RequestError } from '../../domain/decider.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { EventStore, Position } from '../../stores/ports/event-store.ts'
import { handle, type Decide, type CommandContext } from '../core/handle.ts'
import { loadStream } from '../../events/load-stream.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'
import { faultOfUrl, type WebhookRules } from './webhook-url.ts'

/** What commands on webhooks work with. */
export type WebhookCommandContext = CommandContext & {
  readonly webhookIds: Pick<IdAllocator, 'take'>
  readonly secrets: WebhookSecrets
  readonly rules: WebhookRules
  /** Where an account's change feed ends at this moment. */
  readonly feedEnd: (account: number) => string | Promise<string>
}

/** `position`: of the last event, undefined where nothing had to change. */
export type ChangedWebhook = { readonly webhook: Webhook; readonly position: Position | undefined }

/** Characters of a description at most. */
export const MAX_DESCRIPTION_LENGTH = 500

/** An account's webhooks as the log has them. @throws StoreUnavailable */
export const webhooksOf = async (store: Pick<EventStore, 'read'>, account: number): Promise<Webhooks> =>
  (await loadStream(store, webhooksStream(account), webhooksDecider)).state

/**
 * Pushes an account's change feed to an address, from now on.
 * @returns its secret too, which is told this once
 * @throws Refusal invalid for an address that is not to be reached, or where the account has as many as it may have
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
  const secret = secrets.make()
  const [id, cursor] = [await context.webhookIds.take(), await context.feedEnd(owner)]
  const wanted = { id, url, description, secret: secrets.seal(secret, id), cursor }
  const changed = await change(context, owner, id, origin, (state, now) => domain.createWebhook(state, wanted, now))
  return { ...changed, secret }
}

/** @throws Refusal missing; invalid for an address that is not to be reached */
export function changeWebhook(
  context: Pick<WebhookCommandContext, keyof CommandContext | 'rules'>,
  { owner, id }: WebhookReference,
  wanted: WebhookChange,
  origin: Origin,
): Promise<ChangedWebhook> {
  if (wanted.url !== undefined) checkUrl(wanted.url, context.rules)
  return change(context, owner, id, origin, (state) => domain.changeWebhook(state, id, wanted))
}

/** A webhook, and whose it is. */
export type WebhookReference = { readonly owner: number; readonly id: number }

/** The former secret signs for another day, beside the new one. @throws Refusal missing */
export async function rotateWebhookSecret(
  context: Pick<WebhookCommandContext, keyof CommandContext | 'secrets'>,
  { owner, id }: WebhookReference,
  origin: Origin,
): Promise<ChangedWebhook & { readonly secret: string }> {
  const secret = context.secrets.make()
  const sealed = context.secrets.seal(secret, id)
  const decide: Decide<Webhooks, WebhookEvent> = (state, now) => domain.rotateWebhookSecret(state, id, sealed, now)
  return { ...(await change(context, owner, id, origin, decide)), secret }
}

/** @throws Refusal missing */
export async function deleteWebhook(
  context: CommandContext,
  { owner, id }: WebhookReference,
  origin: Origin,
): Promise<Pick<ChangedWebhook, 'position'>> {
  const target = { stream: webhooksStream(owner), origin }
  return handle(context, target, webhooksDecider, (state) => domain.deleteWebhook(state, id))
}

/** Puts on record what came of deliveries. @returns where; undefined where its owner was faster */
export async function recordDelivery(
  context: CommandContext,
  { owner, id }: WebhookReference,
  news: DeliveryStateChange,
): Promise<Position | undefined> {
  const origin: Origin = { actor: 'service', via: 'projection', correlation: `webhook-${id}` }
  const target = { stream: webhooksStream(owner), origin }
  return (await handle(context, target, webhooksDecider, (state) => domain.recordDelivery(state, id, news))).position
}

/** After a rotation of the master key: what the former one sealed is sealed by the new one. @throws SealedByAnotherKey */
export async function resealWebhook(
  { secrets, ...context }: Pick<WebhookCommandContext, keyof CommandContext | 'secrets'>,
  { owner, id }: WebhookReference,
): Promise<void> {
  const origin: Origin = { actor: 'service', via: 'projection', correlation: `webhook-${id}` }
  await handle(context, { stream: webhooksStream(owner), origin }, webhooksDecider, (state): WebhookEvent[] => {
    const known = state.find((one) => one.id === id)?.secrets ?? []
    if (known.every(({ sealed }) => secrets.isCurrent(sealed))) return []
    const again = known.map(({ sealed }) => secrets.seal(secrets.open(sealed, id), id))
    return [{ type: 'WebhookSecretsResealed', data: { id, secrets: again } }]
  })
}

async function change(
  context: CommandContext,
  owner: number,
  id: number,
  origin: Origin,
  decide: Decide<Webhooks, WebhookEvent>,
): Promise<ChangedWebhook> {
  const { state, position } = await handle(context, { stream: webhooksStream(owner), origin }, webhooksDecider, decide)
  return { webhook: domain.requireWebhook(state, id), position }
}

function checkDescription(description: string | null): void {
  if (description === null || description.length <= MAX_DESCRIPTION_LENGTH) return
  const message = `A description has at most ${MAX_DESCRIPTION_LENGTH} characters, got ${description.length}`
  throw new RequestError('invalid', [{ pointer: '/description', message }])
}

function checkUrl(url: string, rules: WebhookRules): void {
  const message = faultOfUrl(url, rules)
  if (message !== undefined) throw new RequestError('invalid', [{ pointer: '/url', message }])
}
