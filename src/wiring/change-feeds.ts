import { ChangeFeed } from '../projections/diamonds/change-feed.ts'
import { ChangeNotifier } from '../projections/diamonds/change-notifier.ts'
import type { OpenReadModel } from '../projections/engine/background-services.ts'
import type { StaleReadPolicy } from '../projections/engine/stale-reads.ts'
import type { LinkBuilder } from '../representations/json.ts'
import type { Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'

/** The change feed, for reading and for webhooks, with the given links. */
export type ChangeFeeds = { feedFor(links: LinkBuilder): ChangeFeed; pushFeedFor(links: LinkBuilder): ChangeFeed }

/** Requests that wait for changes end when the service stops. */
export function openChangeFeeds(
  { store, log, readModelTimeoutMs }: Installation,
  { model, progress }: OpenReadModel,
  stale: StaleReadPolicy,
  parts: ServiceParts,
): ChangeFeeds {
  const notifier = new ChangeNotifier({ model, progress, log })
  parts.add({ stage: 'requests', name: 'changes', stop: async () => notifier.stop() })
  const options = { model, progress, store, watch: notifier, stale, waitMs: readModelTimeoutMs }
  return {
    feedFor: (links) => new ChangeFeed(options, links),
    pushFeedFor: (links) => new ChangeFeed({ ...options, includeAllDeletions: true }, links),
  }
}
