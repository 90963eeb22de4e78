import { z } from 'zod'
import { LONGEST_DESCRIPTION, webhooksOf, type Hooking, type Named } from '../../commands/webhooks/webhooks.ts'
import { Refusal } from '../../domain/decider.ts'
import { WEBHOOK_STATES, type Webhook } from '../../domain/webhook/webhook.ts'
import type { OpenReadModel } from '../../projections/engine/followers.ts'
import type { Delivery } from '../../projections/webhooks/webhooks.ts'
import type { Asked } from '../kit/endpoint.ts'
import { accepted, assigned, must, objectOf, parse } from '../../representations/parse.ts'
import { numberInPath } from '../kit/paths.ts'
import type { Caller } from '../kit/authenticate.ts'

/** What came of one try. */
type Tried = Pick<Delivery, 'status' | 'ms' | 'error'>

export type WebhookServices = {
  readonly webhooks: {
    readonly hooking: Hooking
    /** The read model of all accounts' webhooks. */
    readonly known: Pick<OpenReadModel, 'model' | 'progress'>
    readonly deliveries: (webhook: number) => Promise<readonly Delivery[]>
    /** Sends a test message, as a part of a trace. @throws Refusal too-many while others of the account are under way */
    readonly tryOut: (webhook: Webhook, account: number, trace?: string) => Promise<Tried>
    /** What addresses of answers begin with. */
    readonly address: string
  }
}

export const ONE_WEBHOOK = { id: numberInPath('The id of a webhook.') } as const

export const OF_ONE = { 403: "It is another account's", 404: 'There is no such webhook' } as const

const TIME = z.string().describe('A time, such as 2026-11-22T13:00:00+00:00')
const SECRET = z.string().describe('`whsec_` and 32 bytes in base64; told this once')

const SHOWN = {
  id: z.int().min(1),
  url: z.string().describe('Where changes are sent to'),
  description: z.string().nullable(),
  state: z.enum(WEBHOOK_STATES).meta({ id: 'WebhookState' }),
  created: TIME,
  error: z.string().nullable().describe('Why it fails or was paused; null where it does not, or you paused it'),
}
export const WEBHOOK = z.strictObject(SHOWN).meta({ id: 'Webhook' })
export const CREATED_WEBHOOK = z.strictObject({ ...SHOWN, secret: SECRET }).meta({ id: 'CreatedWebhook' })
export const NEW_SECRET = z.strictObject({ secret: SECRET })

const STATUS = z.int().nullable().describe("The receiver's status; null where it did not answer")
const TRIED = {
  status: STATUS,
  ms: z.int().min(0).describe('Milliseconds that the try took'),
  error: z.string().nullable().describe('Why it did not succeed; null where it did'),
}
export const TRY = z.strictObject(TRIED)
export const DELIVERY = z
  .strictObject({ cursor: z.string().describe('Of the change in the feed'), at: TIME, ...TRIED })
  .meta({ id: 'Delivery' })

// Blanks around a text are taken away, as of a diamond's.
const URL_OF = z
  .string(must('an address, such as https://example.com/webhook'))
  .trim()
  .describe('https, without user and password, on port 443 or from 1024 up')
const SAID = must(`a text of at most ${LONGEST_DESCRIPTION} characters, or null`)
const DESCRIPTION = z.string(SAID).trim().max(LONGEST_DESCRIPTION, SAID).nullable().describe('For you; null for none')
const EXAMPLE = '{"url": "https://example.com/webhook"}'
export const NEW_WEBHOOK = objectOf({ url: URL_OF, description: DESCRIPTION.exactOptional() }, 'a webhook', EXAMPLE)

/** What the owner changes of a webhook; what else is shown of it may be sent back as it was read. */
export const WEBHOOK_CHANGE = objectOf(
  {
    url: URL_OF.exactOptional(),
    description: DESCRIPTION.exactOptional(),
    state: z
      .enum(['active', 'paused'], must('active or paused'))
      .meta({ id: 'WantedWebhookState' })
      .exactOptional()
      .describe('`active` goes on where it was paused'),
    ...assigned(['id', 'created', 'error']),
  },
  'a webhook',
  EXAMPLE,
)

/** @throws Refusal invalid, with all that is wrong */
export const readWebhook = <Value>(schema: z.ZodType<Value> & { readonly shape: object }, body: unknown): Value =>
  accepted(parse(schema, body, { of: 'a webhook', known: Object.keys(schema.shape) }))

/** As answers show it: nothing of its secrets. */
export const shownWebhook = ({ id, url, description, state, created, error }: Webhook) => ({
  id,
  url,
  description,
  state,
  created: shownTime(created),
  error,
})

/** `2026-11-22T13:00:00+00:00` @param milliseconds since 1970 */
export const shownTime = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}+00:00`

type Asking = Pick<Asked<Caller, unknown, { readonly id: string }>, 'asker' | 'params'>

/**
 * The caller's webhook, as the log has it.
 * @throws Refusal missing, or forbidden for another account's
 */
export async function ownWebhook(
  { asker, params }: Asking,
  { webhooks: { hooking, known } }: WebhookServices,
): Promise<{ readonly webhook: Webhook; readonly named: Named }> {
  const id = Number(params.id)
  const missing = () => new Refusal('missing', `There is no webhook ${params.id.slice(0, 40)}`)
  if (!/^[1-9]\d*$/.test(params.id) || id > Number.MAX_SAFE_INTEGER) throw missing()
  const webhook = (await webhooksOf(hooking.store, asker.account)).find((one) => one.id === id)
  if (webhook !== undefined) return { webhook, named: { owner: asker.account, id } }
  const elsewhere = await known.model.get(id, ['owner'])
  if (elsewhere === undefined || elsewhere['owner'] === asker.account) throw missing()
  throw new Refusal('forbidden', `Webhook ${id} belongs to another account`)
}
