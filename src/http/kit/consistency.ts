import type { ProjectionProgress } from '../../projections/engine/progress.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { ResponseHeaders } from './response.ts'
import type { HttpRequest } from './endpoint.ts'

/** Says that lists don't show the newest writes yet; what is answered is right all the same. */
export const PENDING = { 'X-Consistency': 'pending' } as const

/** What the header of a change's answer says, for documents. */
export const CONSISTENCY = { 'X-Consistency': '`pending` where lists do not show the change yet' } as const

const NONE: ResponseHeaders = {}

/** Says that the log is away, and how long ago it last answered: what is answered is the read model's alone. */
export const staleHeaders = (age: number | undefined): ResponseHeaders =>
  age === undefined ? NONE : { 'X-Consistency': 'stale', Age: String(age) }

/**
 * A write answers when the read model has reached it, so that its client's next read sees it; one that did not wait so
 * long says so.
 * @param position of what was written; undefined where nothing was
 * @returns headers of its answer
 */
export function waitForReadModel(
  { waitBudget }: Pick<HttpRequest, 'waitBudget'>,
  progress: Pick<ProjectionProgress, 'waitForPosition'>,
  position: Position | undefined,
): ResponseHeaders | Promise<ResponseHeaders> {
  if (position === undefined) return NONE
  const reached = progress.waitForPosition(position, waitBudget.remainingMs)
  if (typeof reached === 'boolean') return reached ? NONE : PENDING
  return waitBudget.spendOn(() => reached).then((known) => (known ? NONE : PENDING))
}
