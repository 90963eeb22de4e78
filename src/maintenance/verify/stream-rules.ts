import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { Differences } from './differences.ts'
import { wrongId } from './promised-ids.ts'
import { StreamEnds } from './stream-ends.ts'

/** What an operator does where the log itself is not what was written. */
export const RESTORE =
  'the log was changed behind the service: find out by whom, and go back to a backup by `npx adamant restore`'

const UNDERSTAND =
  'where a newer release wrote it, verify with that one; else the log was changed behind the service: `npx adamant restore`'

/**
 * What holds of every event by itself, and of it and the one before it in its stream: revisions count from 0 without a gap, `at` does
 * not go back, this release understands it, and its id is the one it must have where that follows from what it says.
 */
export class StreamRules {
  readonly #ends = new StreamEnds()
  events = 0
  /** Streams of which something was told. */
  readonly faulty = new Set<string>()

  constructor(private readonly found: Differences) {}

  check(event: StoredEvent): void {
    this.events++
    this.#checkOrder(event)
    const fault = faultIn(event)
    if (fault !== undefined) this.#tell(event, fault, UNDERSTAND)
    const id = wrongId(event)
    if (id !== undefined) this.#tell(event, id, RESTORE)
  }

  /** One whose text is damaged is still counted in its stream. */
  pass({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>): void {
    this.events++
    this.faulty.add(stream)
    this.#ends.set(stream, { revision: Number(revision), at: this.#ends.get(stream)?.at ?? 0 })
  }

  #checkOrder(event: StoredEvent): void {
    const { stream } = event
    const last = this.#ends.get(stream)
    const revision = Number(event.revision)
    const next = last === undefined ? 0 : last.revision + 1
    if (revision > next) this.#tell(event, `${missing(next, revision - 1)} before it`, RESTORE)
    if (revision < next) this.#tell(event, `stands behind revision ${next - 1}, where ${next} should be`, RESTORE)
    const at = Date.parse(event.metadata['at'] ?? '')
    if (Number.isNaN(at)) this.#tell(event, `has no time that can be read in \`at\``, RESTORE)
    else if (last !== undefined && at < last.at) {
      this.#tell(event, `is of ${iso(at)}, and the one before it of ${iso(last.at)}: time goes back`, RESTORE)
    }
    const latest = Math.max(Number.isNaN(at) ? 0 : at, last?.at ?? 0)
    this.#ends.set(stream, { revision: Math.max(revision, next - 1), at: latest })
  }

  #tell({ stream, revision, type }: StoredEvent, what: string, remedy: string): void {
    this.faulty.add(stream)
    this.found.add({ where: `${stream}@${revision}`, what: `${type} ${what}`, do: remedy })
  }
}

const iso = (at: number) => new Date(at).toISOString()

const missing = (from: number, to: number) =>
  from === to ? `lacks revision ${from}` : `lacks revisions ${from} to ${to}`

function faultIn(event: StoredEvent): string | undefined {
  try {
    decode(event)
    return undefined
  } catch (error) {
    return `can't be understood: ${error instanceof Error ? error.message : String(error)}`
  }
}
