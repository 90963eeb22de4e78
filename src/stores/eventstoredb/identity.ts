import { randomUUID } from 'node:crypto'
import { StoreUnavailable, WrongRevision, type NewEvent } from '../ports/event-store.ts'
import type { Appender } from './appender.ts'
import type { Reader } from './reader.ts'

/** As the embedded log has it, so that a copied log keeps its identity. */
const STREAM = 'log'

/** The log's first event gives it its identity; made before anything else is appended. */
export class Identity {
  #found: Promise<string> | undefined

  constructor(
    private readonly reader: Reader,
    private readonly appender: Appender,
  ) {}

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
      const [first] = await this.reader.run(STREAM, 0n, 1)
      if (first !== undefined) return identityOf(first)
      const event = logCreated()
      try {
        await this.appender.append({ stream: STREAM, expected: 'none', events: [event] })
        return identityOf(event)
      } catch (error) {
        // Another process was first: its log it is.
        if (!(error instanceof WrongRevision)) throw error
      }
    }
  }
}

function logCreated(): NewEvent {
  const metadata = { actor: 'system', via: 'store', schema: '1', at: new Date().toISOString() }
  return { id: randomUUID(), type: 'LogCreated', data: { identity: randomUUID() }, metadata }
}

function identityOf({ type, data }: NewEvent): string {
  const { identity } = data
  if (type === 'LogCreated' && typeof identity === 'string') return identity
  throw new StoreUnavailable(
    `EventStoreDB: stream ${STREAM} does not begin with LogCreated: it is another application's`,
  )
}
