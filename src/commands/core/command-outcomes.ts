import { Counter, Registry } from 'prom-client'
import { RequestError } from '../../domain/request-error.ts'
import { categoryOf, STREAM_CATEGORIES } from '../../events/registry.ts'
import { EventsRemoved, OutcomeUnknown, StoreUnavailable, WrongRevision } from '../../stores/ports/event-store.ts'

/**
 * `conflict`: every attempt lost to another writer. `unknown`: the store did not confirm whether the events were
 * stored.
 */
const OUTCOMES = ['done', 'refused', 'conflict', 'unknown', 'unavailable', 'failed'] as const
type CommandOutcome = (typeof OUTCOMES)[number]

const RETRY_REASONS = ['conflict', 'unknown']

/**
 * Counts the outcomes and retries of a process's commands. `subject` is the stream's category, which is the part of its
 * name before the first dash. Every counter exists from the start, at 0.
 */
export class CommandOutcomes {
  readonly #outcomes: Counter<'subject' | 'outcome'>
  readonly #retries: Counter<'subject' | 'reason'>

  constructor(registry = new Registry()) {
    this.#outcomes = new Counter({
      name: 'adamant_commands_total',
      help: 'Commands by outcome',
      labelNames: ['subject', 'outcome'],
      registers: [registry],
    })
    this.#retries = new Counter({
      name: 'adamant_command_retries_total',
      help: 'Retries of commands by reason',
      labelNames: ['subject', 'reason'],
      registers: [registry],
    })
    for (const subject of STREAM_CATEGORIES) {
      for (const outcome of OUTCOMES) this.#outcomes.inc({ subject, outcome }, 0)
      for (const reason of RETRY_REASONS) this.#retries.inc({ subject, reason }, 0)
    }
  }

  /** @param stream the stream that the command changes, or any one of several */
  async track<Result>(stream: string, command: () => Promise<Result>): Promise<Result> {
    let outcome: CommandOutcome = 'done'
    try {
      return await command()
    } catch (error) {
      outcome = outcomeOf(error)
      throw error
    } finally {
      this.#outcomes.inc({ subject: categoryOf(stream), outcome })
    }
  }

  countRetry(stream: string, error: unknown): void {
    const reason = error instanceof WrongRevision ? 'conflict' : 'unknown'
    this.#retries.inc({ subject: categoryOf(stream), reason })
  }
}

function outcomeOf(error: unknown): CommandOutcome {
  if (error instanceof RequestError || error instanceof EventsRemoved) return 'refused'
  if (error instanceof WrongRevision) return 'conflict'
  if (error instanceof OutcomeUnknown) return 'unknown'
  return error instanceof StoreUnavailable ? 'unavailable' : 'failed'
}
