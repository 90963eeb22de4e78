import { randomUUID } from 'node:crypto'
import { apiTokenUseDecider, ONE_USE, used } from '../../domain/account/api-token-use.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { handle, type Writing } from '../core/handle.ts'
import { load } from '../core/load.ts'

/** An account's id, and its API token's. */
export type UsedToken = { readonly account: number; readonly apiToken: string }

const useStream = ({ account, apiToken }: UsedToken) => `apitoken-${account}-${apiToken}`

/** When an API token was used last, to the hour, in milliseconds since 1970. @throws StoreUnavailable */
export async function lastUseOf(store: EventStore, token: UsedToken): Promise<number | undefined> {
  return (await load(store, useStream(token), apiTokenUseDecider)).state.lastUsedAt
}

/** Milliseconds until a use that could not be recorded is tried again, with the next request. */
const AGAIN = 60_000

/** Records that API tokens are used: an append an hour for each at most, which no request waits for. */
export class ApiTokenUses {
  /** Until when a token's use need not be recorded, by a clock that never goes back. */
  readonly #until = new Map<string, number>()

  /** @param failed is told of a use that could not be recorded; the next request tries again */
  constructor(
    private readonly writing: Writing,
    private readonly monotonic: () => number,
    private readonly failed: (error: unknown) => void,
  ) {}

  note(token: UsedToken): void {
    const stream = useStream(token)
    const now = this.monotonic()
    if (now < (this.#until.get(stream) ?? -Infinity)) return
    this.#until.set(stream, now + ONE_USE)
    void this.#record(stream, token.account)
  }

  async #record(stream: string, account: number): Promise<void> {
    const origin = { actor: `account-${account}`, via: 'http', correlation: randomUUID() } as const
    try {
      await handle(this.writing, { stream, origin }, apiTokenUseDecider, used)
    } catch (error) {
      this.#until.set(stream, this.monotonic() + AGAIN)
      this.failed(error)
    }
  }
}
