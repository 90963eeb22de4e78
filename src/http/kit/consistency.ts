import type { ProjectionProgress } from '../../projections/engine/progress.ts'
import type { PositionOrStart } from '../../stores/ports/event-store.ts'
import type { ResponseHeaders } from './response.ts'
import type { EndpointContext } from './endpoint.ts'

/** Sent when lists may not show the latest writes yet. The response body itself is up to date. */
export const PENDING = { 'X-Consistency': 'pending' } as const

/** Describes the header in the API reference. */
export const CONSISTENCY = { 'X-Consistency': '`pending` if lists do not show the change yet' } as const

const NONE: ResponseHeaders = {}

/**
 * Headers for a response from the read model while the event log is unavailable.
 * @param ageSeconds seconds since the log was last available; undefined if it is available
 */
export const staleHeaders = (ageSeconds: number | undefined): ResponseHeaders =>
  ageSeconds === undefined ? NONE : { 'X-Consistency': 'stale', Age: String(ageSeconds) }

/**
 * Read-your-writes: waits until the read model has processed a write, within the request's wait budget.
 * @param position of the last event written, or the log's head; undefined if there is nothing to wait for
 * @returns headers for the response: `X-Consistency: pending` if the read model is still behind
 */
export async function waitForReadModel(
  { state: { waitBudget } }: Pick<EndpointContext, 'state'>,
  progress: Pick<ProjectionProgress, 'waitForPosition'>,
  position: PositionOrStart | undefined,
): Promise<ResponseHeaders> {
  if (position === undefined) return NONE
  return (await waitBudget.spendOn((ms) => progress.waitForPosition(position, ms))) ? NONE : PENDING
}
