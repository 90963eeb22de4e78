import { randomUUID } from 'node:crypto'
import { LOG_STREAM } from '../../domain/installation/moving.ts'
import { StoreUnavailable, WrongRevision, type EventLog, type NewEvent } from '../ports/event-store.ts'

/** The log's first event, which gives it its identity. */
export function logCreated(): NewEvent {
  const metadata = { actor: 'system', via: 'store', schema: '1', at: new Date().toISOString() }
  return { id: randomUUID(), type: 'LogCreated', data: { identity: randomUUID() }, metadata }
}

/** Found once, and made where a log has none and may. */
export class Identity {
  #found: Promise<string> | undefined
  #isKnown = false

  /** @param name of the log, for people */
  constructor(
    private readonly store: Pick<EventLog, 'read' | 'append'>,
    private readonly name: string,
    private readonly mayMake: boolean,
  ) {}

  get isKnown(): boolean {
    return this.#isKnown
  }

  /** @throws StoreUnavailable, OutcomeUnknown */
  get(): Promise<string> {
    this.#found ??= this.#findOrMake().catch((error: unknown) => {
      this.#found = undefined
      throw error
    })
    return this.#found
  }

  async #findOrMake(): Promise<string> {
    for (;;) {
      const [first] = await this.store.read(LOG_STREAM)
      if (first !== undefined) return this.#identityOf(first)
      if (!this.mayMake) throw new StoreUnavailable(`${this.name} has no LogCreated`)
      const event = logCreated()
      try {
        await this.store.append(LOG_STREAM, 'none', [event])
        return this.#identityOf(event)
      } catch (error) {
        // Another process was first: its log it is.
        if (!(error instanceof WrongRevision)) throw error
      }
    }
  }

  #identityOf({ type, data }: NewEvent): string {
    const { identity } = data
    this.#isKnown = type === 'LogCreated' && typeof identity === 'string'
    if (this.#isKnown) return String(identity)
    throw new StoreUnavailable(
      `${this.name}: stream ${LOG_STREAM} does not begin with LogCreated: it is another application's`,
    )
  }
}
