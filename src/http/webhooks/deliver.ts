import { z } from 'zod'
import { rotateWebhookSecret } from '../../commands/webhooks/webhooks.ts'
import { ok } from '../kit/answer.ts'
import { bearer, originOf } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import {
  DELIVERY,
  NEW_SECRET,
  OF_ONE,
  ONE_WEBHOOK,
  ownWebhook,
  shownTime,
  TRY,
  type WebhookServices,
} from './resource.ts'

export const testWebhook = endpoint({
  name: 'testWebhook',
  method: 'POST',
  path: '/v4/webhook/{id}/test',
  about: 'Sends a message of the type `webhook.test`, once, in whatever state the webhook is; 15 s at most.',
  who: bearer,
  parameters: ONE_WEBHOOK,
  family: owned,
  answers: {
    200: { about: 'What came of it, good or bad', schema: TRY },
    ...OF_ONE,
    429: 'Tests of this account are under way; wait for them',
  },
  async run(asked, services: WebhookServices) {
    const { webhook } = await ownWebhook(asked, services)
    const { status, ms, error } = await services.webhooks.tryOut(webhook, asked.asker.account, asked.trace)
    return ok({ status, ms, error })
  },
})

export const renewWebhookSecret = endpoint({
  name: 'rotateWebhookSecret',
  method: 'POST',
  path: '/v4/webhook/{id}/secret',
  about: 'Gives a webhook a new secret. For 24 hours both sign, their signatures separated by a blank.',
  who: bearer,
  parameters: ONE_WEBHOOK,
  family: owned,
  answers: {
    200: { about: 'The new secret', schema: NEW_SECRET },
    ...OF_ONE,
    409: 'It was changed by somebody else meanwhile; send it again',
  },
  async run(asked, services: WebhookServices) {
    const { named } = await ownWebhook(asked, services)
    const { secret } = await rotateWebhookSecret(services.webhooks.hooking, named, originOf(asked))
    return ok({ secret })
  },
})

export const listDeliveries = endpoint({
  name: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v4/webhook/{id}/deliveries',
  about: 'The last 100 tries, the newest first.',
  who: bearer,
  parameters: ONE_WEBHOOK,
  family: owned,
  answers: { 200: { about: 'The tries', schema: z.array(DELIVERY) }, ...OF_ONE },
  async run(asked, services: WebhookServices) {
    const { named } = await ownWebhook(asked, services)
    const tries = await services.webhooks.deliveries(named.id)
    return ok(tries.map(({ at, ...tried }) => ({ ...tried, at: shownTime(at) })))
  },
})
