import type { Progress } from '../../projections/engine/progress.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { Headers } from './answer.ts'
import type { Asked } from './endpoint.ts'

/** Says that lists don't show the newest writes yet; what is answered is right all the same. */
export const PENDING = { 'X-Consistency': 'pending' } as const

/** What the header of a change's answer says, for documents. */
export const CONSISTENCY = { 'X-Consistency': '`pending` where lists do not show the change yet' } as const

const NONE: Headers = {}

/** Says that the log is away, and how long ago it last answered: what is answered is the read model's alone. */
export const staleHeaders = (age: number | undefined): Headers =>
  age === undefined ? NONE : { 'X-Consistency': 'stale', Age: String(age) }

/**
 * A write answers when the read model has reached it, so that its client's next read sees it; one that did not wait so
 * long says so.
 * @param position of what was written; undefined where nothing was
 * @returns headers of its answer
 */
export function consistencyOf(
  { patience }: Pick<Asked, 'patience'>,
  progress: Pick<Progress, 'reached'>,
  position: Position | undefined,
): Headers | Promise<Headers> {
  if (position === undefined) return NONE
  const reached = progress.reached(position, patience.left)
  if (typeof reached === 'boolean') return reached ? NONE : PENDING
  return patience.during(() => reached).then((known) => (known ? NONE : PENDING))
}
