import {
  readOnlyStateOf,
  COPY_STREAM,
  LOG_STREAM,
  isAppendAllowed,
  type ReadOnlyState,
} from '../../domain/installation/read-only-state.ts'
import { LogClosed, type EventLog } from '../ports/event-store.ts'
import { SingleFlight } from './single-flight.ts'

/** The streams whose events determine whether a log is closed. */
export const isFenceStream = (stream: string): boolean => stream === LOG_STREAM || stream === COPY_STREAM

/**
 * Reads from the log whether it is closed.
 * @param stateIfEmpty meaning of a log without events: it is new, or another log's events are about to be copied into it
 */
export async function readClosedReason(
  store: Pick<EventLog, 'readStream'>,
  stateIfEmpty: 'new' | 'filling',
): Promise<ReadOnlyState | undefined> {
  const [[last], copy] = await Promise.all([store.readStream(LOG_STREAM, { last: 1 }), store.readStream(COPY_STREAM)])
  return deriveClosedReason(last, copy, stateIfEmpty)
}

type FenceEvent = NonNullable<Parameters<typeof readOnlyStateOf>[0]>

/** Like readClosedReason, from events that were read already. */
export const deriveClosedReason = (
  last: FenceEvent | undefined,
  copy: readonly FenceEvent[],
  stateIfEmpty: 'new' | 'filling',
): ReadOnlyState | undefined =>
  readOnlyStateOf(last, last === undefined && copy.length === 0 && stateIfEmpty === 'filling' ? [COPY_BEGUN] : copy)

const COPY_BEGUN: FenceEvent = { type: 'CopyBegun', data: {} }

/** @returns the error with which the append must be rejected, if any */
export const refusalOf = (
  closedReason: ReadOnlyState | undefined,
  stream: string,
  types: readonly string[],
): LogClosed | undefined =>
  closedReason === undefined || isAppendAllowed(closedReason, stream, types) ? undefined : new LogClosed(closedReason)

/** Milliseconds after which an append triggers a refresh of the fence state in the background. */
const REFRESH_AFTER_MS = 500
/** Milliseconds after which an append waits for a refresh of the fence state. */
export const MAX_FENCE_AGE_MS = 1_500

/**
 * For engines that cannot check in the append's own transaction whether the log is fenced. Each process caches the
 * fence state, which is never older than MAX_FENCE_AGE_MS when an append is sent. The adapter must call
 * requireAppendAllowed before every send, including retries and later parts of a bulk.
 */
export class Fence {
  readonly #refresh: SingleFlight<void>
  #closedReason: ReadOnlyState | undefined
  #refreshedAt = Number.NEGATIVE_INFINITY

  constructor(store: Pick<EventLog, 'readStream'>) {
    this.#refresh = new SingleFlight(async () => {
      const startedAt = performance.now()
      this.#closedReason = await readClosedReason(store, 'new')
      this.#refreshedAt = startedAt
    })
  }

  /** @throws LogClosed, StoreUnavailable */
  async requireAppendAllowed(stream: string, types: readonly string[]): Promise<void> {
    const age = performance.now() - this.#refreshedAt
    if (this.#closedReason !== undefined || age > MAX_FENCE_AGE_MS)
      return this.#requireAllowedAfterRefresh(stream, types)
    // If the refresh fails, appends wait for the next one once the state is older than MAX_FENCE_AGE_MS.
    if (age > REFRESH_AFTER_MS) this.#refresh.get().catch(() => undefined)
  }

  /** Call it after each append of this process: if that was a fence event, the next append waits for a refresh. */
  onAppended(stream: string): void {
    if (isFenceStream(stream)) this.#refreshedAt = Number.NEGATIVE_INFINITY
  }

  async #requireAllowedAfterRefresh(stream: string, types: readonly string[]): Promise<void> {
    await this.#refresh.get()
    const refusal = refusalOf(this.#closedReason, stream, types)
    if (refusal !== undefined) throw refusal
  }
}
