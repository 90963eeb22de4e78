import { ChangeFeed } from '../projections/diamonds/change-feed.ts'
import { ChangeWatch } from '../projections/diamonds/change-watch.ts'
import type { OpenReadModel } from '../projections/engine/followers.ts'
import type { StaleReads } from '../projections/engine/stale-reads.ts'
import type { LinkMaker } from '../representations/json.ts'
import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'

/** The feed of changes, for whoever has links to put into it: to be asked for, and to be pushed. */
export type OpenChanges = { feedWith(links: LinkMaker): ChangeFeed; pushedWith(links: LinkMaker): ChangeFeed }

/** Who waits for changes is told when the service stops, so that no request lasts longer. */
export function openChanges(
  { store, log, patience }: Installation,
  { model, progress }: OpenReadModel,
  stale: StaleReads,
  parts: OpenParts,
): OpenChanges {
  const watch = new ChangeWatch({ model, writing: progress, log })
  parts.add({ stage: 'requests', name: 'changes', stop: async () => watch.stop() })
  const options = { model, progress, store, watch, stale, patience }
  return {
    feedWith: (links) => new ChangeFeed(options, links),
    pushedWith: (links) => new ChangeFeed({ ...options, everyEnd: true }, links),
  }
}
