import { z } from 'zod'
import { rotateWebhookSecret } from '../../commands/webhooks/webhooks.ts'
import { formatTime } from '../../representations/json.ts'
import { ok } from '../kit/response.ts'
import { bearer, eventOriginOf } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import {
  DELIVERY,
  NEW_SECRET,
  WEBHOOK_ERROR_RESPONSES,
  WEBHOOK_PARAMETERS,
  requireOwnWebhook,
  DELIVERY_ATTEMPT,
  type WebhookServices,
} from './resource.ts'

export const testWebhook = endpoint({
  operationId: 'testWebhook',
  method: 'POST',
  path: '/v4/webhook/{id}/test',
  summary:
    'Send a test message to a webhook. It has the type `webhook.test`, is sent once, in any state, and times out after 15 s.',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  group: accountGroup,
  responses: {
    200: { description: 'The result, whether it succeeded or failed', schema: DELIVERY_ATTEMPT },
    ...WEBHOOK_ERROR_RESPONSES,
    429: 'Other tests of this account are in progress',
  },
  async handler(ctx, services: WebhookServices) {
    const { webhook } = await requireOwnWebhook(ctx, services)
    const { status, ms, error } = await services.webhooks.sendTestMessage(
      webhook,
      ctx.state.principal.account,
      ctx.state.trace,
    )
    return ok({ status, ms, error })
  },
})

export const rotateWebhookSecretEndpoint = endpoint({
  operationId: 'rotateWebhookSecret',
  method: 'POST',
  path: '/v4/webhook/{id}/secret',
  summary:
    'Rotate the secret of a webhook. For 24 hours, messages have two signatures, one by each secret, separated by a space.',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  group: accountGroup,
  responses: {
    200: { description: 'The new secret', schema: NEW_SECRET },
    ...WEBHOOK_ERROR_RESPONSES,
    409: 'The webhook was changed by another request; send the request again',
  },
  async handler(ctx, services: WebhookServices) {
    const { webhookKey } = await requireOwnWebhook(ctx, services)
    const { secret } = await rotateWebhookSecret(services.webhooks.context, webhookKey, eventOriginOf(ctx))
    return ok({ secret })
  },
})

export const listWebhookDeliveries = endpoint({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v4/webhook/{id}/deliveries',
  summary: 'List the last 100 delivery attempts of a webhook, newest first',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  group: accountGroup,
  responses: { 200: { description: 'The delivery attempts', schema: z.array(DELIVERY) }, ...WEBHOOK_ERROR_RESPONSES },
  async handler(ctx, services: WebhookServices) {
    const { webhookKey } = await requireOwnWebhook(ctx, services)
    const attempts = await services.webhooks.listDeliveries(webhookKey.id)
    return ok(attempts.map(({ at, ...attempt }) => ({ ...attempt, at: formatTime(at) })))
  },
})
