import { z } from 'zod'
import {
  MAX_DESCRIPTION_LENGTH,
  webhooksOf,
  type WebhookCommandContext,
  type WebhookReference,
} from '../../commands/webhooks/webhooks.ts'
import { RequestError } from '../../domain/request-error.ts'
import { WEBHOOK_STATES, type Webhook } from '../../domain/webhook/webhook.ts'
import type { OpenReadModel } from '../../projections/engine/background-services.ts'
import type { DeliveryAttempt } from '../../projections/webhooks/webhooks.ts'
import type { EndpointContext } from '../kit/endpoint.ts'
import { requireValid, assignedMembers, mustBe, objectSchema, parseInput } from '../../representations/parse.ts'
import { integerPathParameter, requireId } from '../kit/path-parameters.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'

type WebhookTestResult = Pick<DeliveryAttempt, 'status' | 'ms' | 'error'>

export type WebhookServices = {
  readonly webhooks: {
    readonly context: WebhookCommandContext
    /** The webhooks of all accounts. */
    readonly readModel: Pick<OpenReadModel, 'model' | 'progress'>
    readonly listDeliveries: (webhook: number) => Promise<readonly DeliveryAttempt[]>
    /** @throws RequestError too-many while other tests of the account are in progress */
    readonly sendTestMessage: (webhook: Webhook, account: number, trace?: string) => Promise<WebhookTestResult>
  }
}

export const WEBHOOK_PARAMETERS = { id: integerPathParameter('The id of a webhook.') } as const

export const WEBHOOK_ERROR_RESPONSES = {
  403: 'The webhook belongs to another account',
  404: 'No such webhook',
} as const

const TIME = z.string().describe('ISO 8601, such as 2026-11-22T13:00:00+00:00')
const SECRET = z.string().describe('The signing secret: `whsec_` and 32 bytes in base64. Returned only here.')

const WEBHOOK_MEMBERS = {
  id: z.int().min(1),
  url: z.string().describe('The URL to which changes are sent'),
  description: z.string().nullable(),
  state: z.enum(WEBHOOK_STATES).meta({ id: 'WebhookState' }),
  created: TIME,
  error: z
    .string()
    .nullable()
    .describe('Why the webhook is failing or was paused; null if it is active or was paused by its owner'),
}
export const WEBHOOK = z.strictObject(WEBHOOK_MEMBERS).meta({ id: 'Webhook' })
export const CREATED_WEBHOOK = z.strictObject({ ...WEBHOOK_MEMBERS, secret: SECRET }).meta({ id: 'CreatedWebhook' })
export const NEW_SECRET = z.strictObject({ secret: SECRET })

const STATUS = z.int().nullable().describe("The HTTP status of the receiver's response; null if there was none")
const ATTEMPT_MEMBERS = {
  status: STATUS,
  ms: z.int().min(0).describe('Duration of the attempt in milliseconds'),
  error: z.string().nullable().describe('Why the attempt failed; null if it succeeded'),
}
export const DELIVERY_ATTEMPT = z.strictObject(ATTEMPT_MEMBERS)
export const DELIVERY = z
  .strictObject({ cursor: z.string().describe('The cursor of the change in the feed'), at: TIME, ...ATTEMPT_MEMBERS })
  .meta({ id: 'Delivery' })

const WEBHOOK_URL = z
  .string(mustBe('a URL such as https://example.com/webhook'))
  .trim()
  .describe('An https URL without user and password, on port 443 or 1024 and above')
const DESCRIPTION_ERROR = mustBe(`a text of at most ${MAX_DESCRIPTION_LENGTH} characters, or null`)
const DESCRIPTION = z
  .string(DESCRIPTION_ERROR)
  .trim()
  .max(MAX_DESCRIPTION_LENGTH, DESCRIPTION_ERROR)
  .nullable()
  .describe('Free text; null for none')
const EXAMPLE = '{"url": "https://example.com/webhook"}'
export const NEW_WEBHOOK = objectSchema(
  { url: WEBHOOK_URL, description: DESCRIPTION.exactOptional() },
  'a webhook',
  EXAMPLE,
)

/** The members that the owner may change. Members assigned by the service are ignored, so that a webhook can be sent back as read. */
export const WEBHOOK_CHANGE = objectSchema(
  {
    url: WEBHOOK_URL.exactOptional(),
    description: DESCRIPTION.exactOptional(),
    state: z
      .enum(['active', 'paused'], mustBe('active or paused'))
      .meta({ id: 'WantedWebhookState' })
      .exactOptional()
      .describe('`active` resumes a paused webhook'),
    ...assignedMembers(['id', 'created', 'error']),
  },
  'a webhook',
  EXAMPLE,
)

/** @throws RequestError invalid, with all errors */
export const parseWebhook = <Value>(schema: z.ZodType<Value> & { readonly shape: object }, body: unknown): Value =>
  requireValid(parseInput(schema, body, { name: 'a webhook', members: Object.keys(schema.shape) }))

type WebhookRequest = Pick<EndpointContext<BearerPrincipal, unknown, { readonly id: string }>, 'params' | 'state'>

/**
 * Reads a webhook of the account from the event log.
 * @throws RequestError missing, or forbidden if the webhook belongs to another account
 */
export async function requireOwnWebhook(
  { params, state: { principal } }: WebhookRequest,
  { webhooks: { context, readModel } }: WebhookServices,
): Promise<{ readonly webhook: Webhook; readonly webhookKey: WebhookReference }> {
  const id = requireId('webhook', params.id)
  const webhook = (await webhooksOf(context.store, principal.account)).find((one) => one.id === id)
  if (webhook !== undefined) return { webhook, webhookKey: { owner: principal.account, id } }
  const storedWebhook = await readModel.model.get(id, ['owner'])
  if (storedWebhook === undefined || storedWebhook['owner'] === principal.account)
    throw new RequestError('missing', `There is no webhook ${id}`)
  throw new RequestError('forbidden', `Webhook ${id} belongs to another account`)
}
