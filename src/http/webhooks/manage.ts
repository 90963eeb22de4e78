import { z } from 'zod'
import { changeWebhook, createWebhook, deleteWebhook, webhooksOf } from '../../commands/webhooks/webhooks.ts'
import { created, noContent, ok } from '../kit/answer.ts'
import { bearer, originOf } from '../kit/authenticate.ts'
import { consistencyOf } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import { json } from '../kit/json-body.ts'
import {
  CREATED_WEBHOOK,
  NEW_WEBHOOK,
  OF_ONE,
  ONE_WEBHOOK,
  ownWebhook,
  readWebhook,
  shownWebhook,
  WEBHOOK,
  WEBHOOK_CHANGE,
  type WebhookServices,
} from './resource.ts'

const CONFLICT = { 409: 'It was changed by somebody else meanwhile; send it again' } as const

export const addWebhook = endpoint({
  name: 'createWebhook',
  method: 'POST',
  path: '/v4/webhook',
  about: "Pushes the account's changes to an address, from now on. An account has at most 10 webhooks.",
  who: bearer,
  body: json(NEW_WEBHOOK),
  family: owned,
  answers: {
    201: { about: 'The webhook, with its secret', schema: CREATED_WEBHOOK, headers: { Location: 'Of the webhook' } },
    ...CONFLICT,
  },
  async run(asked, { webhooks }: WebhookServices) {
    const { url, description = null } = readWebhook(NEW_WEBHOOK, asked.body)
    const { account } = asked.asker
    const made = await createWebhook(webhooks.hooking, account, { url, description }, originOf(asked))
    const headers = await consistencyOf(asked, webhooks.known.progress, made.position)
    const body = { ...shownWebhook(made.webhook), secret: made.secret }
    return created(`${webhooks.address}/v4/webhook/${made.webhook.id}`, body, headers)
  },
})

export const listWebhooks = endpoint({
  name: 'listWebhooks',
  method: 'GET',
  path: '/v4/webhook',
  about: "The account's webhooks, in the order in which they were made.",
  who: bearer,
  family: owned,
  answers: { 200: { about: 'All of them', schema: z.array(WEBHOOK) } },
  async run({ asker }, { webhooks: { hooking } }: WebhookServices) {
    return ok((await webhooksOf(hooking.store, asker.account)).map(shownWebhook))
  },
})

export const readOneWebhook = endpoint({
  name: 'readWebhook',
  method: 'GET',
  path: '/v4/webhook/{id}',
  about: 'One webhook.',
  who: bearer,
  parameters: ONE_WEBHOOK,
  family: owned,
  answers: { 200: { about: 'The webhook', schema: WEBHOOK }, ...OF_ONE },
  async run(asked, services: WebhookServices) {
    return ok(shownWebhook((await ownWebhook(asked, services)).webhook))
  },
})

export const modifyWebhook = endpoint({
  name: 'modifyWebhook',
  method: 'PATCH',
  path: '/v4/webhook/{id}',
  about: 'Changes the members that are sent. `active` goes on where it was paused, with all that was missed.',
  who: bearer,
  parameters: ONE_WEBHOOK,
  body: json(WEBHOOK_CHANGE),
  family: owned,
  answers: { 200: { about: 'The webhook', schema: WEBHOOK }, ...OF_ONE, ...CONFLICT },
  async run(asked, services: WebhookServices) {
    const { hooking, known } = services.webhooks
    const { named } = await ownWebhook(asked, services)
    const wanted = readWebhook(WEBHOOK_CHANGE, asked.body)
    const { webhook, position } = await changeWebhook(hooking, named, wanted, originOf(asked))
    return ok(shownWebhook(webhook), await consistencyOf(asked, known.progress, position))
  },
})

export const removeWebhook = endpoint({
  name: 'removeWebhook',
  method: 'DELETE',
  path: '/v4/webhook/{id}',
  about: 'Ends a webhook: nothing is sent to it any more.',
  who: bearer,
  parameters: ONE_WEBHOOK,
  family: owned,
  answers: { 204: 'It is gone', ...OF_ONE, ...CONFLICT },
  async run(asked, services: WebhookServices) {
    const { hooking, known } = services.webhooks
    const { named } = await ownWebhook(asked, services)
    const { position } = await deleteWebhook(hooking, named, originOf(asked))
    return noContent(await consistencyOf(asked, known.progress, position))
  },
})
