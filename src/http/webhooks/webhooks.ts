import { z } from 'zod'
import { changeWebhook, createWebhook, deleteWebhook, webhooksOf } from '../../commands/webhooks/webhooks.ts'
import { toWebhookBody } from '../../representations/webhook.ts'
import { created, noContent, ok } from '../kit/response.ts'
import { bearer, eventOriginOf } from '../kit/authenticate.ts'
import { waitForReadModel } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { json } from '../kit/json-body.ts'
import type { UrlServices } from '../kit/public-urls.ts'
import {
  CREATED_WEBHOOK,
  NEW_WEBHOOK,
  WEBHOOK_ERROR_RESPONSES,
  WEBHOOK_PARAMETERS,
  requireOwnWebhook,
  parseWebhook,
  WEBHOOK,
  WEBHOOK_CHANGE,
  type WebhookServices,
} from './resource.ts'

const CONFLICT = { 409: 'The webhook was changed by another request; send the request again' } as const

export const createWebhookEndpoint = endpoint({
  operationId: 'createWebhook',
  method: 'POST',
  path: '/v4/webhook',
  summary:
    "Create a webhook. It sends the account's changes from now on to a URL. An account may have at most 10 webhooks.",
  auth: bearer,
  body: json(NEW_WEBHOOK),
  group: accountGroup,
  responses: {
    201: {
      description: 'The webhook, with its secret',
      schema: CREATED_WEBHOOK,
      headers: { Location: 'URL of the webhook' },
    },
    ...CONFLICT,
  },
  async handler(ctx, { webhooks, urls }: WebhookServices & UrlServices) {
    const { url, description = null } = parseWebhook(NEW_WEBHOOK, ctx.request.body)
    const { account } = ctx.state.principal
    const result = await createWebhook(webhooks.context, account, { url, description }, eventOriginOf(ctx))
    const headers = await waitForReadModel(ctx, webhooks.readModel.progress, result.position)
    const body = { ...toWebhookBody(result.webhook), secret: result.secret }
    return created(`${urls.base}/v4/webhook/${result.webhook.id}`, body, headers)
  },
})

export const listWebhooks = endpoint({
  operationId: 'listWebhooks',
  method: 'GET',
  path: '/v4/webhook',
  summary: "List the account's webhooks in the order of their creation",
  auth: bearer,
  group: accountGroup,
  responses: { 200: { description: 'All webhooks', schema: z.array(WEBHOOK) } },
  async handler({ state: { principal } }, { webhooks: { context } }: WebhookServices) {
    return ok((await webhooksOf(context.store, principal.account)).map(toWebhookBody))
  },
})

export const readOneWebhook = endpoint({
  operationId: 'readWebhook',
  method: 'GET',
  path: '/v4/webhook/{id}',
  summary: 'Retrieve a webhook',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  group: accountGroup,
  responses: { 200: { description: 'The webhook', schema: WEBHOOK }, ...WEBHOOK_ERROR_RESPONSES },
  async handler(ctx, services: WebhookServices) {
    return ok(toWebhookBody((await requireOwnWebhook(ctx, services)).webhook))
  },
})

export const modifyWebhook = endpoint({
  operationId: 'modifyWebhook',
  method: 'PATCH',
  path: '/v4/webhook/{id}',
  summary:
    'Update a webhook. Members that are not sent stay unchanged. Setting `state` to `active` resumes a paused webhook, ' +
    'starting with the changes that it missed.',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  body: json(WEBHOOK_CHANGE),
  group: accountGroup,
  responses: { 200: { description: 'The webhook', schema: WEBHOOK }, ...WEBHOOK_ERROR_RESPONSES, ...CONFLICT },
  async handler(ctx, services: WebhookServices) {
    const { context, readModel } = services.webhooks
    const { webhookKey } = await requireOwnWebhook(ctx, services)
    const changes = parseWebhook(WEBHOOK_CHANGE, ctx.request.body)
    const { webhook, position } = await changeWebhook(context, webhookKey, changes, eventOriginOf(ctx))
    return ok(toWebhookBody(webhook), await waitForReadModel(ctx, readModel.progress, position))
  },
})

export const removeWebhook = endpoint({
  operationId: 'removeWebhook',
  method: 'DELETE',
  path: '/v4/webhook/{id}',
  summary: 'Delete a webhook',
  auth: bearer,
  pathParameters: WEBHOOK_PARAMETERS,
  group: accountGroup,
  responses: { 204: 'Deleted', ...WEBHOOK_ERROR_RESPONSES, ...CONFLICT },
  async handler(ctx, services: WebhookServices) {
    const { context, readModel } = services.webhooks
    const { webhookKey } = await requireOwnWebhook(ctx, services)
    const { position } = await deleteWebhook(context, webhookKey, eventOriginOf(ctx))
    return noContent(await waitForReadModel(ctx, readModel.progress, position))
  },
})
