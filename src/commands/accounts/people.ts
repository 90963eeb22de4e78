import { loginDecider, normaliseEmail } from '../../domain/account/login.ts'
import { createHash } from 'node:crypto'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import type { Account } from '../../domain/account/account.ts'
import type { Persons } from '../../stores/ports/persons.ts'
import type { Writing } from '../core/handle.ts'
import { load } from '../core/load.ts'
import { PersonKeys } from './person-key.ts'

/** As releases up to 4.0 named it: whoever has the log can test a guess. */
export const plainLoginStream = (email: string) =>
  `login-${createHash('sha256').update(normaliseEmail(email)).digest('hex')}`

/** What stands where an address is shown that is nowhere any more, or not here. */
const placeholderOf = (account: number) => `account-${account}`

/** A log-in, and the stream that it stands in. */
export type FoundLogin = { readonly stream: string; readonly account: number }

/** Who the accounts are: their addresses, which lie beside the log, and their log-in names, which the log has keyed. */
export class People {
  readonly #keys: PersonKeys

  constructor(
    private readonly writing: Writing,
    private readonly persons: Persons,
    keys: MasterKeys,
  ) {
    this.#keys = new PersonKeys(writing, keys)
  }

  /** Seals the key again where the master key was rotated. @throws WrongMasterKey, StoreUnavailable */
  async ready(): Promise<void> {
    await this.#keys.known()
  }

  /** Where a name is reserved from now on. @throws WrongMasterKey, StoreUnavailable */
  async loginStream(email: string): Promise<string> {
    return `login-${(await this.#keys.made()).nameOf(normaliseEmail(email))}`
  }

  /** Whose log-in name it is. As much is read for a name that nobody has: it takes as long. */
  async login(email: string): Promise<FoundLogin | undefined> {
    const key = await this.#keys.known()
    const plain = plainLoginStream(email)
    const streams = key === undefined ? [plain] : [`login-${key.nameOf(normaliseEmail(email))}`, plain]
    const { store } = this.writing
    const found = await Promise.all(
      streams.map(async (stream) => ({ stream, login: (await load(store, stream, loginDecider)).state })),
    )
    for (const { stream, login } of found) if (login.status === 'reserved') return { stream, account: login.account }
    return undefined
  }

  /** Before the log says that there is the account: what never comes to be is swept. */
  async keep(account: number, email: string): Promise<void> {
    const key = await this.#keys.made()
    await this.persons.put({ account, sealed: key.seal(email, account), at: this.writing.clock() })
  }

  /**
   * An account's address as it was registered; undefined where it was forgotten, or its row did not come along.
   * @param state as the log has it
   */
  async addressOf(account: number, state: Account): Promise<string | undefined> {
    if (state.status === 'unknown' || state.status === 'forgotten') return undefined
    if (state.email !== undefined) return state.email
    const [key, sealed] = await Promise.all([this.#keys.known(), this.persons.read(account)])
    return sealed && key?.open(sealed, account)
  }

  /** Likewise, for people: an account without an address is told by its number. */
  async shownAs(account: number, state: Account): Promise<string> {
    return (await this.addressOf(account, state)) ?? placeholderOf(account)
  }
}
