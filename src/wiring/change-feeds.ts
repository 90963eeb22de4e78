import type { ChangeFeedOptions } from '../projections/diamonds/change-feed.ts'
import { ChangeNotifier } from '../projections/diamonds/change-notifier.ts'
import type { OpenReadModel } from '../projections/engine/background-services.ts'
import type { StaleReadPolicy } from '../projections/engine/stale-reads.ts'
import type { Installation } from './installation.ts'
import type { ServiceParts } from './service-parts.ts'

/** Opens what all change feeds share. Requests that wait for changes end when the service stops. */
export function openChangeFeeds(
  { store, log, readModelTimeoutMs }: Installation,
  { model, progress }: OpenReadModel,
  stale: StaleReadPolicy,
  parts: ServiceParts,
): ChangeFeedOptions {
  const notifier = new ChangeNotifier({ model, progress, log })
  parts.add({ stage: 'requests', name: 'changes', stop: async () => notifier.stop() })
  return { model, progress, store, watch: notifier, stale, waitMs: readModelTimeoutMs }
}
