import { diamondStream, scoresStream } from '../../domain/diamond/diamond.ts'
import { traceIn } from '../../events/origin.ts'
import type { Change } from '../../projections/diamonds/change-feed.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'

/**
 * The trace of the newest thing that a message tells of, since several changes may have become one; what somebody asked for
 * goes before the scores that followed.
 * @throws StoreUnavailable
 */
export async function traceOfChange(
  store: Pick<EventStore, 'read'>,
  { diamond, what }: Pick<Change, 'diamond' | 'what'>,
): Promise<string | undefined> {
  const isOfScores = what.every((one) => one === 'scores')
  const [newest] = await store.read(isOfScores ? scoresStream(diamond) : diamondStream(diamond), { last: 1 })
  return newest && traceIn(newest).trace
}
