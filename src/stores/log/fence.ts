import {
  readOnlyStateOf,
  COPY_STREAM,
  LOG_STREAM,
  isAppendAllowed,
  type ReadOnlyState,
} from '../../domain/installation/log-lifecycle.ts'
import { LogClosed, type EventLog } from '../ports/event-store.ts'
import { SingleFlight } from './single-flight.ts'

/** The streams that say whether a log is closed. */
export const isFenceStream = (stream: string): boolean => stream === LOG_STREAM || stream === COPY_STREAM

/**
 * What the log says of itself.
 * @param empty a log without any event: a new one, or one that another one's events are about to be copied into
 */
export async function readClosedReason(
  store: Pick<EventLog, 'read'>,
  empty: 'is new' | 'is being filled',
): Promise<ReadOnlyState | undefined> {
  const [[last], copy] = await Promise.all([store.read(LOG_STREAM, { last: 1 }), store.read(COPY_STREAM)])
  return deriveClosedReason(last, copy, empty)
}

type FenceEvent = NonNullable<Parameters<typeof readOnlyStateOf>[0]>

/** The same of what was read. */
export const deriveClosedReason = (
  last: FenceEvent | undefined,
  copy: readonly FenceEvent[],
  empty: 'is new' | 'is being filled',
): ReadOnlyState | undefined =>
  readOnlyStateOf(last, last === undefined && copy.length === 0 && empty === 'is being filled' ? [BEGUN] : copy)

const BEGUN: FenceEvent = { type: 'CopyBegun', data: {} }

/** @returns what an append is refused with */
export const refusalOf = (
  closed: ReadOnlyState | undefined,
  stream: string,
  types: readonly string[],
): LogClosed | undefined =>
  closed === undefined || isAppendAllowed(closed, stream, types) ? undefined : new LogClosed(closed)

/** Milliseconds after which an append that passes has the fence looked for again, behind it. */
const REFRESH_AFTER_MS = 500
/** Milliseconds after which an append waits until somebody has looked. */
export const MAX_FENCE_AGE_MS = 1_500

/**
 * For engines that can't have an append look for a fence in another stream: each process looks by itself, and what it knows
 * is never older than TRUSTED when an append is sent. The adapter asks before it sends anything, each time: an append that
 * is tried again, or comes late in a bulk, must not go by what was known when its caller made it.
 */
export class Fence {
  readonly #look: SingleFlight<void>
  #closed: ReadOnlyState | undefined
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(store: Pick<EventLog, 'read'>) {
    this.#look = new SingleFlight(async () => {
      const asked = performance.now()
      this.#closed = await readClosedReason(store, 'is new')
      this.#lookedAt = asked
    })
  }

  /** Without a promise where it is known well enough that the log is open. @throws LogClosed, StoreUnavailable */
  requireAppendAllowed(stream: string, types: readonly string[]): void | Promise<void> {
    const age = performance.now() - this.#lookedAt
    if (this.#closed !== undefined || age > MAX_FENCE_AGE_MS) return this.#passLater(stream, types)
    // Where it can't be looked for, an append waits for it soon.
    if (age > REFRESH_AFTER_MS) this.#look.get().catch(() => undefined)
  }

  /** Told of what this process has appended: behind a fence of its own, the next append waits for a look. */
  onAppended(stream: string): void {
    if (isFenceStream(stream)) this.#lookedAt = Number.NEGATIVE_INFINITY
  }

  async #passLater(stream: string, types: readonly string[]): Promise<void> {
    await this.#look.get()
    const refusal = refusalOf(this.#closed, stream, types)
    if (refusal !== undefined) throw refusal
  }
}
