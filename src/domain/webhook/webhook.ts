import { z } from 'zod'
import { RequestError, type Decider } from '../decider.ts'
import { declareEvents, TIME, type EventOf } from '../event.ts'

/** Milliseconds from one failure to the next try; behind them, every six hours. */
const RETRY_DELAYS_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000]
const MAX_RETRY_DELAY_MS = 6 * 3_600_000

/** Milliseconds without a success after which a webhook is failing: the next failure behind that pauses it. */
const FAILING_AFTER = 3 * 24 * 3_600_000

/** Failures without a success between them. @property since when the first was, in milliseconds since 1970 */
export type DeliveryFailures = { readonly count: number; readonly since: number }

/** What becomes of a webhook by one more failure. */
export type RetryDecision = {
  readonly failures: DeliveryFailures
  /** When it is tried again, in milliseconds since 1970. */
  readonly nextAttemptAt: number
  readonly isPastFailingThreshold: boolean
}

export function decideRetry(before: DeliveryFailures | null, now: number): RetryDecision {
  const failures = { count: (before?.count ?? 0) + 1, since: before?.since ?? now }
  const pause = RETRY_DELAYS_MS[failures.count - 1] ?? MAX_RETRY_DELAY_MS
  return { failures, nextAttemptAt: now + pause, isPastFailingThreshold: now - failures.since >= FAILING_AFTER }
}

/** Who or what stopped it: its owner, days of failures, or a receiver that is gone for good (410). */
export const PAUSE_REASONS = ['owner', 'failing', 'gone'] as const
export type PauseReason = (typeof PAUSE_REASONS)[number]

const id = z.int().min(1).describe('of the webhook')
const url = z.string().describe('where messages are sent to')
const secret = z.string().describe('sealed with a key derived from the master key, for this webhook alone; base64url')
const cursor = z.string().describe('in the change feed of the account: everything up to it was taken')
const error = z.string().describe('what came of the last try, for people')
const description = z.string().nullable().describe('for people')

/** What the streams of webhooks begin with: an account has one. */
export const WEBHOOK_STREAM_PREFIX = 'webhooks-'
export const webhooksStream = (account: number) => `${WEBHOOK_STREAM_PREFIX}${account}`

/** `webhooks-7` → 7 */
export const webhookOwnerOf = (stream: string): number => Number(stream.slice(WEBHOOK_STREAM_PREFIX.length))

/**
 * An address of an account that its change feed is pushed to. An account's webhooks share one stream, so that there are never
 * more of them than it may have. `secret` is sealed; `cursor` is a place in the feed: everything up to it was delivered.
 * Times in milliseconds since 1970.
 */
export const webhookEvents = declareEvents('webhooks-{account}', {
  WebhookCreated: {
    about: "An account's changes are pushed to an address from now on.",
    payload: z.object({ id, url, description, secret, cursor, at: TIME }),
    notShown: ['secret'],
  },
  WebhookChanged: {
    about: 'It has another address or description.',
    payload: z.object({ id, url: url.optional(), description: description.optional() }),
  },
  WebhookSecretRotated: {
    about: 'It has a new secret; those before it sign for another day as well.',
    payload: z.object({
      id,
      secret,
      until: TIME.describe('so long those before it sign too: milliseconds since 1970, UTC'),
    }),
    notShown: ['secret'],
  },
  WebhookSecretsResealed: {
    about: 'Its secrets are sealed by another master key.',
    payload: z.object({ id, secrets: z.array(secret).describe('the newest first') }),
    notShown: ['secrets'],
  },
  WebhookProgressed: {
    about: 'How far its deliveries have come; written once an hour at most, while something is delivered.',
    payload: z.object({ id, cursor }),
  },
  WebhookFailing: { about: 'Nothing was taken for three days.', payload: z.object({ id, cursor, error }) },
  WebhookRecovered: { about: 'A message was taken again.', payload: z.object({ id, cursor }) },
  /** `cursor` is null where whoever paused it does not know how far it has come. */
  WebhookPaused: {
    about: 'Nothing is sent to it until its owner says so; the feed keeps it all.',
    payload: z.object({ id, why: z.enum(PAUSE_REASONS), cursor: cursor.nullable(), error: error.nullable() }),
  },
  WebhookActivated: { about: 'It goes on where it was paused.', payload: z.object({ id }) },
  WebhookDeleted: { about: 'It is gone.', payload: z.object({ id }) },
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
  /** Why it fails or was paused, for people; null where it does not, or its owner paused it. */
  readonly error: string | null
  /** The one that signs first; the others sign until their time. */
  readonly secrets: readonly WebhookSecret[]
  readonly cursor: string
  /** Counts what lets deliveries begin anew, without the pauses of earlier failures. */
  readonly begun: number
}

/** An account's webhooks, in the order in which they were made. */
export type Webhooks = readonly Webhook[]

/** An account has no more. */
export const MAX_WEBHOOKS = 10

/** Milliseconds for which a former secret still signs. */
export const SECRET_OVERLAP_MS = 24 * 3_600_000

/** Secrets that sign at a time: rotated more often in a day, the oldest end early. */
const MAX_SIGNING_SECRETS = 5

export const webhooksDecider: Decider<Webhooks, WebhookEvent> = { initialState: [], evolve }

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
        secrets: webhook.secrets.map((one, at) => ({ ...one, sealed: event.data.secrets[at] ?? one.sealed })),
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
  const former = secrets.map(({ sealed, until: ends }) => ({ sealed, until: Math.min(ends ?? until, until) }))
  return [{ sealed: secret, until: null }, ...former].slice(0, MAX_SIGNING_SECRETS)
}

/** The sealed secrets that sign at a time, the newest first. */
export const signingSecrets = ({ secrets }: Webhook, now: number): readonly string[] =>
  secrets.filter(({ until }) => until === null || until > now).map(({ sealed }) => sealed)

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
  if (webhooks.length >= MAX_WEBHOOKS) {
    throw new RequestError('invalid', `An account has at most ${MAX_WEBHOOKS} webhooks; delete one that is not needed`)
  }
  return [{ type: 'WebhookCreated', data: { ...wanted, at: now } }]
}

/** @throws Refusal missing */
export function changeWebhook(
  webhooks: Webhooks,
  id: number,
  { url, description, state }: WebhookChange,
): WebhookEvent[] {
  const known = requireWebhook(webhooks, id)
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
  requireWebhook(webhooks, id)
  return [{ type: 'WebhookSecretRotated', data: { id, secret, until: now + SECRET_OVERLAP_MS } }]
}

/** @throws Refusal missing */
export function deleteWebhook(webhooks: Webhooks, id: number): WebhookEvent[] {
  requireWebhook(webhooks, id)
  return [{ type: 'WebhookDeleted', data: { id } }]
}

/** What came of deliveries, as far as it is for the log. @property why of a pause */
export type DeliveryStateChange =
  | { readonly what: 'progressed' | 'recovered'; readonly cursor: string }
  | { readonly what: 'failing'; readonly cursor: string; readonly error: string }
  | { readonly what: 'paused'; readonly why: PauseReason; readonly cursor: string; readonly error: string }

/** Nothing where its owner was faster: it is gone, or paused. */
export function recordDelivery(webhooks: Webhooks, id: number, change: DeliveryStateChange): WebhookEvent[] {
  const known = webhooks.find((one) => one.id === id)
  if (known === undefined || known.state === 'paused') return []
  const { cursor } = change
  switch (change.what) {
    case 'progressed':
      return known.cursor === cursor ? [] : [{ type: 'WebhookProgressed', data: { id, cursor } }]
    case 'recovered':
      return known.state === 'failing' ? [{ type: 'WebhookRecovered', data: { id, cursor } }] : []
    case 'failing':
      return known.state === 'failing' ? [] : [{ type: 'WebhookFailing', data: { id, cursor, error: change.error } }]
    case 'paused':
      return [{ type: 'WebhookPaused', data: { id, why: change.why, cursor, error: change.error } }]
    default:
      return []
  }
}

/** @throws Refusal missing */
export function requireWebhook(webhooks: Webhooks, id: number): Webhook {
  const known = webhooks.find((one) => one.id === id)
  if (known === undefined) throw new RequestError('missing', `There is no webhook ${id}`)
  return known
}
