import { comparePositions, type EventStore } from '../../stores/ports/event-store.ts'
import { progressBar } from '../../cli/progress-bar.ts'
import { shareOf } from '../../cli/rebuild/fill-progress.ts'
import type { Differences } from './differences.ts'
import { everyEvent } from '../../events/every-event.ts'
import type { Followed } from './live-models.ts'
import { RESTORE, StreamRules } from './stream-rules.ts'
import type { WaitingSecrets } from './vault.ts'

type Going = {
  readonly store: EventStore
  readonly models: readonly Followed[]
  readonly waiting: WaitingSecrets
  readonly found: Differences
  readonly signal: AbortSignal
}

/**
 * Goes through the whole log once: looks at every event, and folds it into the models.
 * @returns what held of the log's events
 */
export async function verifyLog({ store, models, waiting, found, signal }: Going): Promise<StreamRules> {
  const rules = new StreamRules(found)
  const head = await store.head()
  const bar = progressBar('verifying', undefined, 'events')
  const damaged = everyEvent(store, 'start', ({ event, message }) => {
    rules.pass(event)
    found.add({ where: `${event.stream}@${event.revision}`, what: message, do: RESTORE })
  })
  for await (const event of damaged) {
    signal.throwIfAborted()
    rules.check(event)
    waiting.note(event)
    for (const { fresh, to } of models) {
      if (comparePositions(event.position, to) <= 0) await fresh.add(event)
    }
    bar.update(rules.events, shareOf(event.position, head))
  }
  for (const { fresh } of models) await fresh.settle()
  bar.end()
  return rules
}
