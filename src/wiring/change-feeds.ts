import { ChangeFeed } from '../projections/diamonds/change-feed.ts'
import { ChangeNotifier } from '../projections/diamonds/change-notifier.ts'
import type { OpenReadModel } from '../projections/engine/background-services.ts'
import type { StaleReadPolicy } from '../projections/engine/stale-reads.ts'
import type { LinkBuilder } from '../representations/json.ts'
import type { Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'

/** The feed of changes, for whoever has links to put into it: to be asked for, and to be pushed. */
export type ChangeFeeds = { feedFor(links: LinkBuilder): ChangeFeed; pushFeedFor(links: LinkBuilder): ChangeFeed }

/** Who waits for changes is told when the service stops, so that no request lasts longer. */
export function openChangeFeeds(
  { store, log, readModelTimeoutMs }: Installation,
  { model, progress }: OpenReadModel,
  stale: StaleReadPolicy,
  parts: ServiceParts,
): ChangeFeeds {
  const watch = new ChangeNotifier({ model, progress, log })
  parts.add({ stage: 'requests', name: 'changes', stop: async () => watch.stop() })
  const options = { model, progress, store, watch, stale, waitMs: readModelTimeoutMs }
  return {
    feedFor: (links) => new ChangeFeed(options, links),
    pushFeedFor: (links) => new ChangeFeed({ ...options, includeAllDeletions: true }, links),
  }
}
