import { z } from 'zod'
import { rotateWebhookSecret } from '../../commands/webhooks/webhooks.ts'
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
  formatTime,
  DELIVERY_ATTEMPT,
  type WebhookServices,
} from './resource.ts'

export const testWebhook = endpoint({
  operationId: 'testWebhook',
  method: 'POST',
  path: '/v4/webhook/{id}/test',
  summary: 'Sends a message of the type `webhook.test`, once, in whatever state the webhook is; 15 s at most.',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  group: accountGroup,
  responses: {
    200: { description: 'What came of it, good or bad', schema: DELIVERY_ATTEMPT },
    ...WEBHOOK_ERROR_RESPONSES,
    429: 'Tests of this account are under way; wait for them',
  },
  async handler(request, services: WebhookServices) {
    const { webhook } = await requireOwnWebhook(request, services)
    const { status, ms, error } = await services.webhooks.sendTestMessage(
      webhook,
      request.principal.account,
      request.trace,
    )
    return ok({ status, ms, error })
  },
})

export const rotateWebhookSecretEndpoint = endpoint({
  operationId: 'rotateWebhookSecret',
  method: 'POST',
  path: '/v4/webhook/{id}/secret',
  summary: 'Gives a webhook a new secret. For 24 hours both sign, their signatures separated by a blank.',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  group: accountGroup,
  responses: {
    200: { description: 'The new secret', schema: NEW_SECRET },
    ...WEBHOOK_ERROR_RESPONSES,
    409: 'It was changed by somebody else meanwhile; send it again',
  },
  async handler(request, services: WebhookServices) {
    const { webhookKey } = await requireOwnWebhook(request, services)
    const { secret } = await rotateWebhookSecret(services.webhooks.commandContext, webhookKey, eventOriginOf(request))
    return ok({ secret })
  },
})

export const listWebhookDeliveries = endpoint({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v4/webhook/{id}/deliveries',
  summary: 'The last 100 tries, the newest first.',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  group: accountGroup,
  responses: { 200: { description: 'The tries', schema: z.array(DELIVERY) }, ...WEBHOOK_ERROR_RESPONSES },
  async handler(request, services: WebhookServices) {
    const { webhookKey } = await requireOwnWebhook(request, services)
    const attempts = await services.webhooks.listDeliveries(webhookKey.id)
    return ok(attempts.map(({ at, ...attempt }) => ({ ...attempt, at: formatTime(at) })))
  },
})
