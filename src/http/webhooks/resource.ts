import { z } from 'zod'
import {
  MAX_DESCRIPTION_LENGTH,
  webhooksOf,
  type WebhookCommandContext,
  type WebhookReference,
} from '../../commands/webhooks/webhooks.ts'
import { RequestError } from '../../domain/decider.ts'
import { WEBHOOK_STATES, type Webhook } from '../../domain/webhook/webhook.ts'
import type { OpenReadModel } from '../../projections/engine/background-services.ts'
import type { DeliveryAttempt } from '../../projections/webhooks/webhooks.ts'
import type { HttpRequest } from '../kit/endpoint.ts'
import { requireValid, assignedMembers, mustBe, objectSchema, parseInput } from '../../representations/parse.ts'
import { integerPathParameter } from '../kit/path-parameters.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'

/** What came of one try. */
type WebhookTestResult = Pick<DeliveryAttempt, 'status' | 'ms' | 'error'>

export type WebhookServices = {
  readonly webhooks: {
    readonly commandContext: WebhookCommandContext
    /** The read model of all accounts' webhooks. */
    readonly readModel: Pick<OpenReadModel, 'model' | 'progress'>
    readonly listDeliveries: (webhook: number) => Promise<readonly DeliveryAttempt[]>
    /** Sends a test message, as a part of a trace. @throws Refusal too-many while others of the account are under way */
    readonly sendTestMessage: (webhook: Webhook, account: number, trace?: string) => Promise<WebhookTestResult>
    /** What addresses of answers begin with. */
    readonly baseUrl: string
  }
}

export const WEBHOOK_PARAMETERS = { id: integerPathParameter('The id of a webhook.') } as const

export const WEBHOOK_ERROR_RESPONSES = { 403: "It is another account's", 404: 'There is no such webhook' } as const

const TIME = z.string().describe('A time, such as 2026-11-22T13:00:00+00:00')
const SECRET = z.string().describe('`whsec_` and 32 bytes in base64; told this once')

const WEBHOOK_MEMBERS = {
  id: z.int().min(1),
  url: z.string().describe('Where changes are sent to'),
  description: z.string().nullable(),
  state: z.enum(WEBHOOK_STATES).meta({ id: 'WebhookState' }),
  created: TIME,
  error: z.string().nullable().describe('Why it fails or was paused; null where it does not, or you paused it'),
}
export const WEBHOOK = z.strictObject(WEBHOOK_MEMBERS).meta({ id: 'Webhook' })
export const CREATED_WEBHOOK = z.strictObject({ ...WEBHOOK_MEMBERS, secret: SECRET }).meta({ id: 'CreatedWebhook' })
export const NEW_SECRET = z.strictObject({ secret: SECRET })

const STATUS = z.int().nullable().describe("The receiver's status; null where it did not answer")
const ATTEMPT_MEMBERS = {
  status: STATUS,
  ms: z.int().min(0).describe('Milliseconds that the try took'),
  error: z.string().nullable().describe('Why it did not succeed; null where it did'),
}
export const DELIVERY_ATTEMPT = z.strictObject(ATTEMPT_MEMBERS)
export const DELIVERY = z
  .strictObject({ cursor: z.string().describe('Of the change in the feed'), at: TIME, ...ATTEMPT_MEMBERS })
  .meta({ id: 'Delivery' })

// Blanks around a text are taken away, as of a diamond's.
const WEBHOOK_URL = z
  .string(mustBe('an address, such as https://example.com/webhook'))
  .trim()
  .describe('https, without user and password, on port 443 or from 1024 up')
const DESCRIPTION_ERROR = mustBe(`a text of at most ${MAX_DESCRIPTION_LENGTH} characters, or null`)
const DESCRIPTION = z
  .string(DESCRIPTION_ERROR)
  .trim()
  .max(MAX_DESCRIPTION_LENGTH, DESCRIPTION_ERROR)
  .nullable()
  .describe('For you; null for none')
const EXAMPLE = '{"url": "https://example.com/webhook"}'
export const NEW_WEBHOOK = objectSchema(
  { url: WEBHOOK_URL, description: DESCRIPTION.exactOptional() },
  'a webhook',
  EXAMPLE,
)

/** What the owner changes of a webhook; what else is shown of it may be sent back as it was read. */
export const WEBHOOK_CHANGE = objectSchema(
  {
    url: WEBHOOK_URL.exactOptional(),
    description: DESCRIPTION.exactOptional(),
    state: z
      .enum(['active', 'paused'], mustBe('active or paused'))
      .meta({ id: 'WantedWebhookState' })
      .exactOptional()
      .describe('`active` goes on where it was paused'),
    ...assignedMembers(['id', 'created', 'error']),
  },
  'a webhook',
  EXAMPLE,
)

/** @throws Refusal invalid, with all that is wrong */
export const parseWebhook = <Value>(schema: z.ZodType<Value> & { readonly shape: object }, body: unknown): Value =>
  requireValid(parseInput(schema, body, { of: 'a webhook', known: Object.keys(schema.shape) }))

/** As answers show it: nothing of its secrets. */
export const toWebhookBody = ({ id, url, description, state, created, error }: Webhook) => ({
  id,
  url,
  description,
  state,
  created: formatTime(created),
  error,
})

/** `2026-11-22T13:00:00+00:00` @param milliseconds since 1970 */
export const formatTime = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}+00:00`

type WebhookRequest = Pick<HttpRequest<BearerPrincipal, unknown, { readonly id: string }>, 'principal' | 'params'>

/**
 * The caller's webhook, as the log has it.
 * @throws Refusal missing, or forbidden for another account's
 */
export async function requireOwnWebhook(
  { principal, params }: WebhookRequest,
  { webhooks: { commandContext, readModel } }: WebhookServices,
): Promise<{ readonly webhook: Webhook; readonly webhookKey: WebhookReference }> {
  const id = Number(params.id)
  const missing = () => new RequestError('missing', `There is no webhook ${params.id.slice(0, 40)}`)
  if (!/^[1-9]\d*$/.test(params.id) || id > Number.MAX_SAFE_INTEGER) throw missing()
  const webhook = (await webhooksOf(commandContext.store, principal.account)).find((one) => one.id === id)
  if (webhook !== undefined) return { webhook, webhookKey: { owner: principal.account, id } }
  const elsewhere = await readModel.model.get(id, ['owner'])
  if (elsewhere === undefined || elsewhere['owner'] === principal.account) throw missing()
  throw new RequestError('forbidden', `Webhook ${id} belongs to another account`)
}
