import { LINK_KEY_STREAM } from '../../commands/installation/link-key.ts'
import { ownerOf, WEBHOOK_STREAMS } from '../../commands/webhooks/webhooks.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { reaction } from '../../projections/engine/reaction.ts'
import type { Deliverer } from './deliverer.ts'

export type DeliveryTools = { readonly deliverer: Deliverer }

/**
 * Pushes accounts' change feeds to their webhooks, in one process at a time. The events of webhooks only wake it: what is to be
 * sent is the feed's to say, and how far each has come stands beside its checkpoint.
 */
export const webhookDeliveries = reaction<DeliveryTools>({
  name: 'webhook-deliveries',
  follows: [WEBHOOK_STREAMS, LINK_KEY_STREAM, RESTORES_STREAM],
  reacting:
    ({ deliverer }) =>
    async (events) => {
      for (const event of events) {
        // Looked at by its name alone, so that what a newer release deletes goes too.
        if (event.type === 'WebhookDeleted') await deliverer.forget(Number(event.data['id']))
        else deliverer.note(event)
      }
      const hooks = events.filter(({ stream }) => stream.startsWith(WEBHOOK_STREAMS))
      const last = hooks.at(-1)
      if (last === undefined) return
      await deliverer.changed(new Set(hooks.map(({ stream }) => ownerOf(stream))), last.position)
    },
  beside:
    ({ deliverer }) =>
    (signal) =>
      deliverer.run(signal),
})
