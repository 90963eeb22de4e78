import { closedBy, COPY_STREAM, LOG_STREAM, passes, type Closed } from '../../domain/installation/moving.ts'
import { LogClosed, type EventLog } from '../ports/event-store.ts'
import { SharedAnswer } from './shared-answer.ts'

/** The streams that say whether a log is closed. */
export const decidesFence = (stream: string): boolean => stream === LOG_STREAM || stream === COPY_STREAM

/**
 * What the log says of itself.
 * @param empty a log without any event: a new one, or one that another one's events are about to be copied into
 */
export async function closedIn(
  store: Pick<EventLog, 'read'>,
  empty: 'is new' | 'is being filled',
): Promise<Closed | undefined> {
  const [[last], copy] = await Promise.all([store.read(LOG_STREAM, { last: 1 }), store.read(COPY_STREAM)])
  return closedOf(last, copy, empty)
}

type Found = NonNullable<Parameters<typeof closedBy>[0]>

/** The same of what was read. */
export const closedOf = (
  last: Found | undefined,
  copy: readonly Found[],
  empty: 'is new' | 'is being filled',
): Closed | undefined =>
  closedBy(last, last === undefined && copy.length === 0 && empty === 'is being filled' ? [BEGUN] : copy)

const BEGUN: Found = { type: 'CopyBegun', data: {} }

/** @returns what an append is refused with */
export const refusalOf = (
  closed: Closed | undefined,
  stream: string,
  types: readonly string[],
): LogClosed | undefined => (closed === undefined || passes(closed, stream, types) ? undefined : new LogClosed(closed))

/** Milliseconds after which an append that passes has the fence looked for again, behind it. */
const FRESH = 500
/** Milliseconds after which an append waits until somebody has looked. */
export const TRUSTED = 1_500

/**
 * For engines that can't have an append look for a fence in another stream: each process looks by itself, and what it knows
 * is never older than TRUSTED when an append is sent. The adapter asks before it sends anything, each time: an append that
 * is tried again, or comes late in a bulk, must not go by what was known when its caller made it.
 */
export class Fence {
  readonly #look: SharedAnswer<void>
  #closed: Closed | undefined
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(store: Pick<EventLog, 'read'>) {
    this.#look = new SharedAnswer(async () => {
      const asked = performance.now()
      this.#closed = await closedIn(store, 'is new')
      this.#lookedAt = asked
    })
  }

  /** Without a promise where it is known well enough that the log is open. @throws LogClosed, StoreUnavailable */
  pass(stream: string, types: readonly string[]): void | Promise<void> {
    const age = performance.now() - this.#lookedAt
    if (this.#closed !== undefined || age > TRUSTED) return this.#passLater(stream, types)
    // Where it can't be looked for, an append waits for it soon.
    if (age > FRESH) this.#look.get().catch(() => undefined)
  }

  /** Told of what this process has appended: behind a fence of its own, the next append waits for a look. */
  appended(stream: string): void {
    if (decidesFence(stream)) this.#lookedAt = Number.NEGATIVE_INFINITY
  }

  async #passLater(stream: string, types: readonly string[]): Promise<void> {
    await this.#look.get()
    const refusal = refusalOf(this.#closed, stream, types)
    if (refusal !== undefined) throw refusal
  }
}
