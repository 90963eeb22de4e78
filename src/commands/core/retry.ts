import { OutcomeUnknown, WrongRevision } from '../../stores/ports/event-store.ts'

/** Tries of one command at most. Only another process can win a race: commands on one stream queue within a process. */
export const MAX_ATTEMPTS = 8

/**
 * Milliseconds after which an unknown outcome is told. A store that takes appends and says nothing of them, as a cluster
 * without a majority does, uses seconds for each: a caller must not wait for all tries.
 */
const UNKNOWN_OUTCOME_DEADLINE_MS = 1_000

/** Milliseconds that a pause is at most. */
const MAX_BACKOFF_MS = 50

/** What is worth another try: a race that another process won, an append of which nobody knows whether it arrived. */
export type Retryable = typeof WrongRevision | typeof OutcomeUnknown

export type RetryOptions = {
  readonly on: readonly Retryable[]
  /** Called before each further try, with what the last one failed with. */
  readonly onRetry?: (error: WrongRevision | OutcomeUnknown) => void
  /** Milliseconds that never go back; the process's unless told. */
  readonly monotonic?: (() => number) | undefined
}

/**
 * Tries an action until it succeeds or is not worth another try. The second try comes at once, each later one after a
 * random pause that grows.
 * @param action its argument counts the tries, from 1
 * @throws what the last try failed with
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

const pause = (most: number) => new Promise<void>((done) => setTimeout(done, Math.random() * most))
