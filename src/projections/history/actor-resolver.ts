import { clientFold, clientStream, isClientId } from '../../domain/client/client.ts'
import { accountFold, type Account, accountStream } from '../../domain/account/account.ts'
import { loadStream } from '../../events/load-stream.ts'
import { isDecodeError } from '../../events/decode.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { HistoryActor } from './history-entry.ts'

/** Values of `via` for events that the service itself writes. */
const INTERNAL_CHANNELS: ReadonlySet<string> = new Set(['projection', 'store'])

/** How an account is shown to people. */
type AccountNameSource = { displayNameOf(account: number, state: Account): Promise<string> }

/** Finds the names of the actors in events' metadata. Each account and client is looked up once. */
export class ActorResolver {
  readonly #names = new Map<string, Promise<string>>()

  constructor(
    private readonly store: Pick<EventStore, 'readStream'>,
    private readonly accountNames: AccountNameSource,
  ) {}

  /** @returns null for events of the service itself; an actor without a known name keeps its id from the event */
  async actorOf({ metadata }: Pick<StoredEvent, 'metadata'>): Promise<HistoryActor | null> {
    const { actor = '', via = '', client } = metadata
    if (INTERNAL_CHANNELS.has(via)) return null
    const clientId = /^client-(.+)$/.exec(actor)?.[1] ?? client
    const [account, clientName] = await Promise.all([this.#accountName(actor), this.#clientName(clientId)])
    return { account, client: clientName, via }
  }

  /** An account's e-mail address, or the text shown instead of it. */
  accountNameOf(account: number): Promise<string> {
    return this.#lookUpOnce(accountStream(account), async () => {
      const { state } = await loadStream(this.store, accountStream(account), accountFold)
      return this.accountNames.displayNameOf(account, state)
    })
  }

  async #accountName(actor: string): Promise<string | null> {
    const number = /^account-([1-9]\d{0,15})$/.exec(actor)?.[1]
    return number === undefined ? null : this.accountNameOf(Number(number))
  }

  async #clientName(client: string | undefined): Promise<string | null> {
    if (client === undefined) return null
    if (!isClientId(client)) return client
    return this.#lookUpOnce(clientStream(client), async () => {
      const { state } = await loadStream(this.store, clientStream(client), clientFold)
      return state.status === 'unknown' ? client : state.name
    })
  }

  #lookUpOnce(stream: string, lookUp: () => Promise<string>): Promise<string> {
    const cached = this.#names.get(stream)
    if (cached !== undefined) return cached
    const name = lookUp().catch((error: unknown) => {
      if (isDecodeError(error)) return stream
      throw error
    })
    this.#names.set(stream, name)
    return name
  }
}
