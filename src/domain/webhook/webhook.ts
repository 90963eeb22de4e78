import { z } from 'zod'
import type { Fold } from '../fold.ts'
import { RequestError } from '../request-error.ts'
import { declareEvents, TIME, type EventOf } from '../event.ts'

/** Milliseconds from a failed delivery to the next attempt; after the last of these, every six hours. */
const RETRY_DELAYS_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000]
const MAX_RETRY_DELAY_MS = 6 * 3_600_000

/** Milliseconds without a success after which a webhook is `failing`; the next failure then pauses it. */
const FAILING_AFTER_MS = 3 * 24 * 3_600_000

/** Consecutive failures. @property since time of the first, milliseconds since 1970 */
export type DeliveryFailures = { readonly count: number; readonly since: number }

export type RetryDecision = {
  readonly failures: DeliveryFailures
  readonly nextAttemptAt: number
  readonly isPastFailingThreshold: boolean
}

export function decideRetry(before: DeliveryFailures | null, now: number): RetryDecision {
  const failures = { count: (before?.count ?? 0) + 1, since: before?.since ?? now }
  const delayMs = RETRY_DELAYS_MS[failures.count - 1] ?? MAX_RETRY_DELAY_MS
  return { failures, nextAttemptAt: now + delayMs, isPastFailingThreshold: now - failures.since >= FAILING_AFTER_MS }
}

/** `owner`: paused by its owner; `failing`: after three days of failures; `gone`: the receiver responded 410. */
export const PAUSE_REASONS = ['owner', 'failing', 'gone'] as const
export type PauseReason = (typeof PAUSE_REASONS)[number]

const id = z.int().min(1).describe('id of the webhook')
const url = z.string().describe('address that messages are sent to')
const secret = z.string().describe('encrypted with a key derived from the master key for this webhook; base64url')
const cursor = z.string().describe('position in the change feed of the account: everything up to it was delivered')
const error = z.string().describe('result of the last attempt, human-readable')
const description = z.string().nullable().describe('human-readable')

/** The prefix of webhook streams: one stream per account. */
export const WEBHOOK_STREAM_PREFIX = 'webhooks-'
export const webhooksStream = (account: number) => `${WEBHOOK_STREAM_PREFIX}${account}`

/** `webhooks-7` → 7 */
export const webhookOwnerOf = (stream: string): number => Number(stream.slice(WEBHOOK_STREAM_PREFIX.length))

/**
 * A webhook pushes an account's change feed to a URL. All webhooks of an account are in one stream, which enforces their
 * maximum number. `secret` is encrypted; `cursor` is a position in the feed: everything up to it was delivered. Times are
 * milliseconds since 1970.
 */
export const webhookEvents = declareEvents('webhooks-{account}', {
  WebhookCreated: {
    about: "A webhook was created: it pushes the account's changes to an address.",
    payload: z.object({ id, url, description, secret, cursor, at: TIME }),
    notShown: ['secret'],
  },
  WebhookChanged: {
    about: 'The address or description of the webhook was changed.',
    payload: z.object({ id, url: url.optional(), description: description.optional() }),
  },
  WebhookSecretRotated: {
    about: 'The webhook got a new secret. The previous ones also sign messages for another day.',
    payload: z.object({
      id,
      secret,
      until: TIME.describe('when the previous secrets stop signing: milliseconds since 1970, UTC'),
    }),
    notShown: ['secret'],
  },
  WebhookSecretsResealed: {
    about: 'The secrets of the webhook were re-encrypted with another master key.',
    payload: z.object({ id, secrets: z.array(secret).describe('newest first') }),
    notShown: ['secrets'],
  },
  WebhookProgressed: {
    about: 'Deliveries progressed to a cursor. Recorded at most once an hour.',
    payload: z.object({ id, cursor }),
  },
  WebhookFailing: { about: 'No delivery succeeded for three days.', payload: z.object({ id, cursor, error }) },
  WebhookRecovered: { about: 'A delivery succeeded again.', payload: z.object({ id, cursor }) },
  /** `cursor` is null if the process that pauses the webhook does not know its progress. */
  WebhookPaused: {
    about: 'The webhook was paused: nothing is delivered until its owner activates it. The feed keeps all changes.',
    payload: z.object({ id, why: z.enum(PAUSE_REASONS), cursor: cursor.nullable(), error: error.nullable() }),
  },
  WebhookActivated: {
    about: 'The webhook was activated: deliveries resume where they were paused.',
    payload: z.object({ id }),
  },
  WebhookDeleted: { about: 'The webhook was deleted.', payload: z.object({ id }) },
})
export type WebhookEvent = EventOf<typeof webhookEvents>

export const WEBHOOK_STATES = ['active', 'failing', 'paused'] as const
export type WebhookState = (typeof WEBHOOK_STATES)[number]

export type WebhookSecret = { readonly sealed: string; readonly until: number | null }

export type Webhook = {
  readonly id: number
  readonly url: string
  readonly description: string | null
  readonly state: WebhookState
  readonly created: number
  /** The last delivery error, human-readable; null unless deliveries fail or were paused because of failures. */
  readonly error: string | null
  /** Newest first. The first signs without limit, the others until their time. */
  readonly secrets: readonly WebhookSecret[]
  readonly cursor: string
  /** Incremented when deliveries restart without the back-off of earlier failures. */
  readonly begun: number
}

/** An account's webhooks, oldest first. */
export type Webhooks = readonly Webhook[]

export const MAX_WEBHOOKS = 10

/** How long a replaced secret keeps signing, in milliseconds. */
export const SECRET_OVERLAP_MS = 24 * 3_600_000

/** If secrets are rotated more often than this within a day, the oldest stop signing early. */
const MAX_SIGNING_SECRETS = 5

export const webhooksFold: Fold<Webhooks, WebhookEvent> = { initialState: [], evolve }

function evolve(webhooks: Webhooks, event: WebhookEvent): Webhooks {
  const { id } = event.data
  if (event.type === 'WebhookCreated') return [...webhooks, newWebhook(event.data)]
  if (event.type === 'WebhookDeleted') return webhooks.filter((one) => one.id !== id)
  return webhooks.map((one) => (one.id === id ? evolveWebhook(one, event) : one))
}

const newWebhook = ({
  id,
  url,
  description,
  secret,
  cursor,
  at,
}: EventOf<typeof webhookEvents, 'WebhookCreated'>['data']): Webhook => ({
  id,
  url,
  description,
  state: 'active',
  created: at,
  error: null,
  secrets: [{ sealed: secret, until: null }],
  cursor,
  begun: 1,
})

function evolveWebhook(webhook: Webhook, event: WebhookEvent): Webhook {
  switch (event.type) {
    case 'WebhookChanged': {
      const { url = webhook.url, description = webhook.description } = event.data
      return { ...webhook, url, description, begun: webhook.begun + (url === webhook.url ? 0 : 1) }
    }
    case 'WebhookSecretRotated':
      return { ...webhook, secrets: rotateSecrets(webhook.secrets, event.data) }
    case 'WebhookSecretsResealed':
      return {
        ...webhook,
        secrets: webhook.secrets.map((one, index) => ({ ...one, sealed: event.data.secrets[index] ?? one.sealed })),
      }
    case 'WebhookProgressed':
      return { ...webhook, cursor: event.data.cursor }
    case 'WebhookFailing':
      return { ...webhook, state: 'failing', cursor: event.data.cursor, error: event.data.error }
    case 'WebhookRecovered':
      return { ...webhook, state: 'active', cursor: event.data.cursor, error: null }
    case 'WebhookPaused':
      return { ...webhook, state: 'paused', cursor: event.data.cursor ?? webhook.cursor, error: event.data.error }
    case 'WebhookActivated':
      return { ...webhook, state: 'active', error: null, begun: webhook.begun + 1 }
    default:
      return webhook
  }
}

function rotateSecrets(
  secrets: readonly WebhookSecret[],
  { secret, until }: { secret: string; until: number },
): WebhookSecret[] {
  const previousSecrets = secrets.map(({ sealed, until: currentUntil }) => ({
    sealed,
    until: Math.min(currentUntil ?? until, until),
  }))
  return [{ sealed: secret, until: null }, ...previousSecrets].slice(0, MAX_SIGNING_SECRETS)
}

/** The encrypted secrets that sign at a time, newest first. */
export const signingSecrets = ({ secrets }: Webhook, now: number): readonly string[] =>
  secrets.filter(({ until }) => until === null || until > now).map(({ sealed }) => sealed)

/** @property secret encrypted */
export type NewWebhook = {
  readonly id: number
  readonly url: string
  readonly description: string | null
  readonly secret: string
  readonly cursor: string
}

/** Changes by the owner; absent members stay unchanged. */
export type WebhookChange = {
  readonly url?: string
  readonly description?: string | null
  readonly state?: 'active' | 'paused'
}

/** @throws RequestError invalid if the account already has the maximum number */
export function createWebhook(webhooks: Webhooks, webhook: NewWebhook, now: number): WebhookEvent[] {
  if (webhooks.length >= MAX_WEBHOOKS) {
    throw new RequestError('invalid', `An account has at most ${MAX_WEBHOOKS} webhooks; delete one that is not needed`)
  }
  return [{ type: 'WebhookCreated', data: { ...webhook, at: now } }]
}

/** @throws RequestError missing */
export function changeWebhook(
  webhooks: Webhooks,
  id: number,
  { url, description, state }: WebhookChange,
): WebhookEvent[] {
  const webhook = requireWebhook(webhooks, id)
  const isUrlChanged = url !== undefined && url !== webhook.url
  const isDescriptionChanged = description !== undefined && description !== webhook.description
  const changeEvents: WebhookEvent[] =
    isUrlChanged || isDescriptionChanged
      ? [
          {
            type: 'WebhookChanged',
            data: { id, ...(isUrlChanged && { url }), ...(isDescriptionChanged && { description }) },
          },
        ]
      : []
  if (state === 'active' && webhook.state !== 'active')
    return [...changeEvents, { type: 'WebhookActivated', data: { id } }]
  if (state !== 'paused' || webhook.state === 'paused') return changeEvents
  return [...changeEvents, { type: 'WebhookPaused', data: { id, why: 'owner', cursor: null, error: null } }]
}

/** The previous secrets sign for another day. @throws RequestError missing */
export function rotateWebhookSecret(webhooks: Webhooks, id: number, secret: string, now: number): WebhookEvent[] {
  requireWebhook(webhooks, id)
  return [{ type: 'WebhookSecretRotated', data: { id, secret, until: now + SECRET_OVERLAP_MS } }]
}

/** @throws RequestError missing */
export function deleteWebhook(webhooks: Webhooks, id: number): WebhookEvent[] {
  requireWebhook(webhooks, id)
  return [{ type: 'WebhookDeleted', data: { id } }]
}

/** A result of deliveries that is recorded in the log. */
export type DeliveryStateChange =
  | { readonly type: 'progressed' | 'recovered'; readonly cursor: string }
  | { readonly type: 'failing'; readonly cursor: string; readonly error: string }
  | { readonly type: 'paused'; readonly why: PauseReason; readonly cursor: string; readonly error: string }

/** No event if the owner has deleted or paused the webhook in the meantime. */
export function recordDelivery(webhooks: Webhooks, id: number, change: DeliveryStateChange): WebhookEvent[] {
  const webhook = webhooks.find((one) => one.id === id)
  if (webhook === undefined || webhook.state === 'paused') return []
  const { cursor } = change
  switch (change.type) {
    case 'progressed':
      return webhook.cursor === cursor ? [] : [{ type: 'WebhookProgressed', data: { id, cursor } }]
    case 'recovered':
      return webhook.state === 'failing' ? [{ type: 'WebhookRecovered', data: { id, cursor } }] : []
    case 'failing':
      return webhook.state === 'failing' ? [] : [{ type: 'WebhookFailing', data: { id, cursor, error: change.error } }]
    case 'paused':
      return [{ type: 'WebhookPaused', data: { id, why: change.why, cursor, error: change.error } }]
    default:
      return []
  }
}

/** @throws RequestError missing */
export function requireWebhook(webhooks: Webhooks, id: number): Webhook {
  const webhook = webhooks.find((one) => one.id === id)
  if (webhook === undefined) throw new RequestError('missing', `There is no webhook ${id}`)
  return webhook
}
