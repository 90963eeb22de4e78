import { setTimeout as pause } from 'node:timers/promises'
import { Counter } from 'prom-client'
import { IdAllocator } from '../commands/installation/id-allocator.ts'
import type { WebhookCommandContext } from '../commands/webhooks/webhooks.ts'
import { WebhookSecrets } from '../credentials/webhook-secrets.ts'
import type { Origin } from '../events/event-metadata.ts'
import { PATH_LINKS } from '../representations/json.ts'
import { SignedLinks } from '../http/kit/signed-links.ts'
import type { WebhookServices } from '../http/webhooks/resource.ts'
import { ChangeFeed, type ChangeFeedOptions } from '../projections/diamonds/change-feed.ts'
import { diamonds } from '../projections/diamonds/diamonds.ts'
import { PolledProgress } from '../projections/engine/progress.ts'
import type { OpenReadModel } from '../projections/engine/background-services.ts'
import { openGuardedReadModel } from '../projections/engine/guarded-read-model.ts'
import { openDeliveryAttempts, WebhookProgressStore } from '../projections/webhooks/webhooks.ts'
import {
  WebhookDeliverer,
  DeliveryLinkKeys,
  type WebhookDeliveryTools,
} from '../reactions/webhooks/webhook-deliverer.ts'
import { DeliveryBulkhead, toPushFeed } from '../reactions/webhooks/delivery-worker.ts'
import {
  resolveByDns,
  createWebhookSender,
  createTestSender,
  type DeliveryOutcome,
} from '../reactions/webhooks/webhook-sender.ts'
import type { Installation } from './installation.ts'

export type OpenWebhooks = {
  readonly openServices: () => Promise<WebhookServices['webhooks']>
  readonly tools: WebhookDeliveryTools
}

/** Opens webhooks: their API and deliveries. @param baseUrl of links */
export function openWebhooks(
  installation: Installation,
  baseUrl: string,
  readModel: OpenReadModel,
  changes: ChangeFeedOptions,
): OpenWebhooks {
  const { context, store, reads, keys, log, metricsRegistry } = installation
  const origin: Origin = { actor: 'service', via: 'http', correlation: 'ids' }
  const unlinkedFeed = new ChangeFeed(changes, PATH_LINKS)
  const {
    context: webhookContext,
    send,
    sendTestMessage,
  } = openWebhookCommands(installation, (account) => unlinkedFeed.currentCursor(account), origin)
  const { secrets } = webhookContext
  const attempts = new Counter({
    name: 'adamant_webhook_deliveries_total',
    help: 'Webhook deliveries since the process started, by outcome',
    labelNames: ['outcome'],
    registers: [metricsRegistry],
  })
  for (const outcome of ['taken', 'failed']) attempts.inc({ outcome }, 0)
  const countAttempt = ({ error }: DeliveryOutcome) => attempts.inc({ outcome: error === null ? 'taken' : 'failed' })
  const linkKeys = new DeliveryLinkKeys(context, keys)
  const links = new SignedLinks(baseUrl, linkKeys, context.clock)
  return {
    async openServices() {
      const listDeliveries = await openDeliveryAttempts(reads)
      return { context: webhookContext, readModel, listDeliveries, sendTestMessage }
    },
    tools: {
      deliverer: new WebhookDeliverer({
        context,
        secrets,
        send,
        sleep,
        onAttempt: countAttempt,
        progressStore: new WebhookProgressStore(reads, store),
        bulkhead: new DeliveryBulkhead(),
        feed: toPushFeed(new ChangeFeed({ ...changes, includeAllDeletions: true }, links)),
        linkKeys,
        webhookModel: readModel,
        log,
      }),
    },
  }
}

/** @param feedEnd returns the current end of an account's change feed */
function openWebhookCommands(
  { settings, context, keys }: Installation,
  feedEnd: WebhookCommandContext['feedEnd'],
  origin: Origin,
) {
  const { clock } = context
  const secrets = new WebhookSecrets(keys)
  const rules = { http: settings.WEBHOOKS_HTTP, private: settings.WEBHOOKS_PRIVATE }
  const webhookIds = new IdAllocator({ ...context, kind: 'webhook', size: 1, origin })
  const send = createWebhookSender({ rules, resolve: resolveByDns })
  return {
    context: { ...context, webhookIds, secrets, rules, feedEnd },
    send,
    sendTestMessage: createTestSender(send, secrets, clock),
  }
}

/** Opens webhook commands for the CLI, with or without a running service: the read model is only read. */
export async function openStandaloneWebhookCommands(installation: Installation, origin: Origin) {
  const { reads, store } = installation
  const model = await openGuardedReadModel(reads, store, diamonds.declaration)
  const watch = { waitForChanges: async () => undefined, isStopped: false }
  const feed = new ChangeFeed({ model, progress: new PolledProgress(model), store, watch }, PATH_LINKS)
  return openWebhookCommands(installation, (account) => feed.currentCursor(account), origin)
}

/** Resolves after the given milliseconds or on abort. */
const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  // Only an abort rejects.
  pause(ms, undefined, { signal }).catch(() => undefined)
