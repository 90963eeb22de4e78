import { OutcomeUnknown, WrongRevision } from '../../stores/ports/event-store.ts'

/** Commands on one stream are serialized within a process, so only another process can win a race. */
export const MAX_ATTEMPTS = 8

/**
 * Milliseconds after which an unknown outcome is no longer retried. A store that accepts appends without confirming
 * them, such as a cluster without a majority, takes seconds for each attempt; the caller must not wait for all of them.
 */
const UNKNOWN_OUTCOME_DEADLINE_MS = 1_000

const MAX_BACKOFF_MS = 50

type Retryable = typeof WrongRevision | typeof OutcomeUnknown

export type RetryOptions = {
  readonly on: readonly Retryable[]
  /** Called before each retry, with the error of the failed attempt. */
  readonly onRetry?: (error: WrongRevision | OutcomeUnknown) => void
  /** Milliseconds; never goes back. Default: `performance.now()`. */
  readonly monotonic?: (() => number) | undefined
}

/**
 * Retries an action with back-off. The first retry is immediate; later ones wait a random time of up to 10, 20, 40,
 * then 50 ms.
 * @param action receives the number of the attempt, from 1
 * @throws the error of the last attempt
 */
export async function withRetry<Result>(
  { on, onRetry, monotonic = () => performance.now() }: RetryOptions,
  action: (attempt: number) => Promise<Result>,
): Promise<Result> {
  const started = monotonic()
  for (let attempt = 1; ; attempt++) {
    try {
      return await action(attempt)
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isOneOf(error, on)) throw error
      if (error instanceof OutcomeUnknown && monotonic() - started >= UNKNOWN_OUTCOME_DEADLINE_MS) throw error
      onRetry?.(error)
      if (attempt > 1) await pause(Math.min(10 * 2 ** (attempt - 2), MAX_BACKOFF_MS))
    }
  }
}

const isOneOf = (error: unknown, kinds: readonly Retryable[]): error is WrongRevision | OutcomeUnknown =>
  kinds.some((kind) => error instanceof kind)

const pause = (maxMs: number) => new Promise<void>((done) => setTimeout(done, Math.random() * maxMs))
