import { IdBlocks } from '../commands/installation/integer-ids.ts'
import type { Hooking } from '../commands/webhooks/webhooks.ts'
import { WebhookSecrets } from '../credentials/webhook-secrets.ts'
import type { Origin } from '../events/origin.ts'
import { PATHS } from '../representations/json.ts'
import type { Metric } from '../runtime/metrics.ts'
import { Links } from '../http/kit/links.ts'
import type { WebhookServices } from '../http/webhooks/resource.ts'
import { ChangeFeed } from '../projections/diamonds/change-feed.ts'
import { diamonds } from '../projections/diamonds/diamonds.ts'
import { FollowedProgress } from '../projections/engine/progress.ts'
import type { OpenReadModel } from '../projections/engine/followers.ts'
import { openReadModel } from '../projections/engine/open-read-model.ts'
import { openDeliveries, WebhookProgresses } from '../projections/webhooks/webhooks.ts'
import { Deliverer, SendingLinkKeys, type DeliveryTools } from '../reactions/webhooks/deliverer.ts'
import { Places, pushedFeed } from '../reactions/webhooks/lane.ts'
import { resolveByDns, sender, tryingOut, type Outcome, type Send, type TryOut } from '../reactions/webhooks/send.ts'
import type { OpenChanges } from './changes.ts'
import type { Installation } from './installation.ts'

export type OpenWebhooks = {
  /** What requests are answered from, by the address that their clients know. */
  readonly openServices: () => Promise<(address: string) => WebhookServices['webhooks']>
  /** What sends. @param address what links in messages begin with */
  readonly toolsAt: (address: string) => DeliveryTools
  readonly metrics: () => Metric[]
}

/** The webhooks: their API, and what sends to them. */
export function openWebhooks(installation: Installation, known: OpenReadModel, changes: OpenChanges): OpenWebhooks {
  const { writing, store, reads, keys, log } = installation
  const origin: Origin = { actor: 'service', via: 'http', correlation: 'ids' }
  const unlinked = changes.feedWith(PATHS)
  const { hooking, send, tryOut } = openHooking(installation, (account) => unlinked.now(account), origin)
  const { secrets } = hooking
  const counts = { taken: 0, failed: 0 }
  const tried = ({ error }: Outcome) => void counts[error === null ? 'taken' : 'failed']++
  return {
    async openServices() {
      const deliveries = await openDeliveries(reads)
      return (address) => ({ hooking, known, deliveries, tryOut, address })
    },
    toolsAt(address) {
      const linkKeys = new SendingLinkKeys(writing, keys)
      const feed = pushedFeed(changes.pushedWith(new Links(address, linkKeys, writing.clock)))
      const progresses = new WebhookProgresses(reads, store)
      const shared = { writing, secrets, send, sleep, tried, progresses, places: new Places() }
      return { deliverer: new Deliverer({ ...shared, feed, linkKeys, known, log }) }
    },
    metrics: () =>
      Object.entries(counts).map(([outcome, value]) => ({
        name: 'adamant_webhook_deliveries_total',
        help: 'Messages to webhooks that this process sent since it started, by what came of them',
        kind: 'counter',
        value,
        labels: { outcome },
      })),
  }
}

/** What commands on webhooks need. @param feedEnd where an account's feed ends at this moment */
function openHooking(
  { settings, writing, keys }: Installation,
  feedEnd: Hooking['feedEnd'],
  origin: Origin,
): { readonly hooking: Hooking; readonly send: Send; readonly tryOut: TryOut } {
  const { clock } = writing
  const secrets = new WebhookSecrets(keys)
  const rules = { http: settings.WEBHOOKS_HTTP, private: settings.WEBHOOKS_PRIVATE }
  const webhookIds = new IdBlocks({ ...writing, kind: 'webhook', size: 1, origin })
  const send = sender({ rules, resolve: resolveByDns })
  return { hooking: { ...writing, webhookIds, secrets, rules, feedEnd }, send, tryOut: tryingOut(send, secrets, clock) }
}

/** Likewise, for a command beside a service or without one: the read model is as others have left it. */
export async function openHookingBeside(installation: Installation, origin: Origin) {
  const { reads, store } = installation
  const model = await openReadModel(reads, store, diamonds.declaration)
  const watch = { changed: async () => undefined, stopped: false }
  const feed = new ChangeFeed({ model, progress: new FollowedProgress(model), store, watch }, PATHS)
  return openHooking(installation, (account) => feed.now(account), origin)
}

/** Milliseconds, unless it is aborted before. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) return done()
    const timer = setTimeout(end, ms)
    function end() {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      done()
    }
    signal.addEventListener('abort', end, { once: true })
  })
}
