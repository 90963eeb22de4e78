import { randomUUID } from 'node:crypto'
import type { WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Webhook } from '../../domain/webhook/webhook.ts'
import { neverAborted } from '../../projections/engine/loop.ts'
import { signed, testMessage } from './message.ts'
import type { Outcome, Send } from './send.ts'

/** Tests of one account that may be under way in a process, and seconds after which another is worth a try. */
const AT_A_TIME = 2
const RETRY_AFTER = 15

/** @param trace that the wish is a part of, as `traceparent` has it */
export type TryOut = (webhook: Webhook, account: number, trace?: string) => Promise<Outcome>

/** Sends test messages, for their owners and operators. */
export function tryingOut(send: Send, secrets: Pick<WebhookSecrets, 'open'>, clock: () => number): TryOut {
  const underWay = new Map<number, number>()
  return async (webhook, account, trace) => {
    const others = underWay.get(account) ?? 0
    if (others >= AT_A_TIME) throw new Refusal('too-many', 'Other tests are under way; wait for them', RETRY_AFTER)
    underWay.set(account, others + 1)
    try {
      const now = clock()
      const message = testMessage(webhook, randomUUID(), now)
      return await send(webhook.url, signed(webhook, message, secrets, now, trace), neverAborted())
    } finally {
      const left = (underWay.get(account) ?? 1) - 1
      if (left === 0) underWay.delete(account)
      else underWay.set(account, left)
    }
  }
}
