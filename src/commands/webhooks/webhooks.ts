import {
  webhooksDecider,
  webhooksStream,
  type DeliveryNews,
  type Webhook,
  type WebhookChange,
  type WebhookEvent,
  type Webhooks,
} from '../../domain/webhook/webhook.ts'
import type { WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import * as domain from '../../domain/webhook/webhook.ts'
import { Refusal } from '../../domain/decider.ts'
import type { Origin } from '../../events/origin.ts'
import type { EventStore, Position } from '../../stores/ports/event-store.ts'
import { handle, type Decide, type Writing } from '../core/handle.ts'
import { load } from '../../events/load.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'
import { faultOfUrl, type WebhookRules } from './webhook-url.ts'

/** What commands on webhooks work with. */
export type Hooking = Writing & {
  readonly webhookIds: Pick<IdBlocks, 'take'>
  readonly secrets: WebhookSecrets
  readonly rules: WebhookRules
  /** Where an account's change feed ends at this moment. */
  readonly feedEnd: (account: number) => string | Promise<string>
}

/** `position`: of the last event, undefined where nothing had to change. */
export type Hooked = { readonly webhook: Webhook; readonly position: Position | undefined }

/** Characters of a description at most. */
export const LONGEST_DESCRIPTION = 500

/** An account's webhooks as the log has them. @throws StoreUnavailable */
export const webhooksOf = async (store: Pick<EventStore, 'read'>, account: number): Promise<Webhooks> =>
  (await load(store, webhooksStream(account), webhooksDecider)).state

/**
 * Pushes an account's change feed to an address, from now on.
 * @returns its secret too, which is told this once
 * @throws Refusal invalid for an address that is not to be reached, or where the account has as many as it may have
 */
export async function createWebhook(
  hooking: Hooking,
  owner: number,
  { url, description }: { readonly url: string; readonly description: string | null },
  origin: Origin,
): Promise<Hooked & { readonly secret: string }> {
  checkUrl(url, hooking.rules)
  checkDescription(description)
  const { secrets } = hooking
  const secret = secrets.make()
  const [id, cursor] = [await hooking.webhookIds.take(), await hooking.feedEnd(owner)]
  const wanted = { id, url, description, secret: secrets.seal(secret, id), cursor }
  const hooked = await change(hooking, owner, id, origin, (state, now) => domain.createWebhook(state, wanted, now))
  return { ...hooked, secret }
}

/** @throws Refusal missing; invalid for an address that is not to be reached */
export function changeWebhook(
  hooking: Pick<Hooking, keyof Writing | 'rules'>,
  { owner, id }: Named,
  wanted: WebhookChange,
  origin: Origin,
): Promise<Hooked> {
  if (wanted.url !== undefined) checkUrl(wanted.url, hooking.rules)
  return change(hooking, owner, id, origin, (state) => domain.changeWebhook(state, id, wanted))
}

/** A webhook, and whose it is. */
export type Named = { readonly owner: number; readonly id: number }

/** The former secret signs for another day, beside the new one. @throws Refusal missing */
export async function rotateWebhookSecret(
  hooking: Pick<Hooking, keyof Writing | 'secrets'>,
  { owner, id }: Named,
  origin: Origin,
): Promise<Hooked & { readonly secret: string }> {
  const secret = hooking.secrets.make()
  const sealed = hooking.secrets.seal(secret, id)
  const decide: Decide<Webhooks, WebhookEvent> = (state, now) => domain.rotateWebhookSecret(state, id, sealed, now)
  return { ...(await change(hooking, owner, id, origin, decide)), secret }
}

/** @throws Refusal missing */
export async function deleteWebhook(
  writing: Writing,
  { owner, id }: Named,
  origin: Origin,
): Promise<Pick<Hooked, 'position'>> {
  const wish = { stream: webhooksStream(owner), origin }
  return handle(writing, wish, webhooksDecider, (state) => domain.deleteWebhook(state, id))
}

/** Puts on record what came of deliveries. @returns where; undefined where its owner was faster */
export async function noteDelivery(
  writing: Writing,
  { owner, id }: Named,
  news: DeliveryNews,
): Promise<Position | undefined> {
  const origin: Origin = { actor: 'service', via: 'projection', correlation: `webhook-${id}` }
  const wish = { stream: webhooksStream(owner), origin }
  return (await handle(writing, wish, webhooksDecider, (state) => domain.noteDelivery(state, id, news))).position
}

/** After a rotation of the master key: what the former one sealed is sealed by the new one. @throws SealedByAnotherKey */
export async function resealWebhook(
  { secrets, ...writing }: Pick<Hooking, keyof Writing | 'secrets'>,
  { owner, id }: Named,
): Promise<void> {
  const origin: Origin = { actor: 'service', via: 'projection', correlation: `webhook-${id}` }
  await handle(writing, { stream: webhooksStream(owner), origin }, webhooksDecider, (state): WebhookEvent[] => {
    const known = state.find((one) => one.id === id)?.secrets ?? []
    if (known.every(({ sealed }) => secrets.isCurrent(sealed))) return []
    const again = known.map(({ sealed }) => secrets.seal(secrets.open(sealed, id), id))
    return [{ type: 'WebhookSecretsResealed', data: { id, secrets: again } }]
  })
}

async function change(
  writing: Writing,
  owner: number,
  id: number,
  origin: Origin,
  decide: Decide<Webhooks, WebhookEvent>,
): Promise<Hooked> {
  const { state, position } = await handle(writing, { stream: webhooksStream(owner), origin }, webhooksDecider, decide)
  return { webhook: domain.webhookOf(state, id), position }
}

function checkDescription(description: string | null): void {
  if (description === null || description.length <= LONGEST_DESCRIPTION) return
  const message = `A description has at most ${LONGEST_DESCRIPTION} characters, got ${description.length}`
  throw new Refusal('invalid', [{ pointer: '/description', message }])
}

function checkUrl(url: string, rules: WebhookRules): void {
  const message = faultOfUrl(url, rules)
  if (message !== undefined) throw new Refusal('invalid', [{ pointer: '/url', message }])
}
