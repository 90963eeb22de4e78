import { RequestError } from '../../domain/request-error.ts'
import { categoryOf, STREAM_CATEGORIES } from '../../events/registry.ts'
import { EventsRemoved, OutcomeUnknown, StoreUnavailable, WrongRevision } from '../../stores/ports/event-store.ts'

/**
 * `conflict`: every attempt lost to another writer. `unknown`: the store did not confirm whether the events were
 * stored.
 */
const OUTCOMES = ['done', 'refused', 'conflict', 'unknown', 'unavailable', 'failed'] as const
type CommandOutcome = (typeof OUTCOMES)[number]

const RETRY_REASONS = ['conflict', 'unknown'] as const
type RetryReason = (typeof RETRY_REASONS)[number]

/** `subject`: the stream's category, which is the part of its name before the first dash. */
export type CommandCount<Kind> = { readonly subject: string; readonly kind: Kind; readonly count: number }

/** Counts the outcomes and retries of a process's commands. Every counter exists from the start, at 0. */
export class CommandOutcomes {
  readonly #outcomeCounts = zeroCounts(OUTCOMES)
  readonly #retryCounts = zeroCounts(RETRY_REASONS)

  /** @param stream the stream that the command changes, or any one of several */
  async track<Result>(stream: string, command: () => Promise<Result>): Promise<Result> {
    try {
      const result = await command()
      this.#count(this.#outcomeCounts, stream, 'done')
      return result
    } catch (error) {
      this.#count(this.#outcomeCounts, stream, outcomeOf(error))
      throw error
    }
  }

  countRetry(stream: string, error: unknown): void {
    this.#count(this.#retryCounts, stream, error instanceof WrongRevision ? 'conflict' : 'unknown')
  }

  get outcomeCounts(): CommandCount<CommandOutcome>[] {
    return toCommandCounts(this.#outcomeCounts)
  }

  get retryCounts(): CommandCount<RetryReason>[] {
    return toCommandCounts(this.#retryCounts)
  }

  #count<Kind>(counts: Map<string, Map<Kind, number>>, stream: string, kind: Kind): void {
    const subject = categoryOf(stream)
    const byKind = counts.get(subject) ?? new Map<Kind, number>()
    counts.set(subject, byKind.set(kind, (byKind.get(kind) ?? 0) + 1))
  }
}

function outcomeOf(error: unknown): CommandOutcome {
  if (error instanceof RequestError || error instanceof EventsRemoved) return 'refused'
  if (error instanceof WrongRevision) return 'conflict'
  if (error instanceof OutcomeUnknown) return 'unknown'
  return error instanceof StoreUnavailable ? 'unavailable' : 'failed'
}

const zeroCounts = <Kind>(kinds: readonly Kind[]) =>
  new Map(STREAM_CATEGORIES.map((subject) => [subject, new Map(kinds.map((kind) => [kind, 0]))]))

const toCommandCounts = <Kind>(counts: ReadonlyMap<string, ReadonlyMap<Kind, number>>): CommandCount<Kind>[] =>
  [...counts].flatMap(([subject, byKind]) => [...byKind].map(([kind, count]) => ({ subject, kind, count })))
