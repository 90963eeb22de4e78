import { createHash, createSecretKey, type KeyObject } from 'node:crypto'
import { derive, hmac } from '../../credentials/digests.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { decrypt, encrypt } from '../../credentials/sealing.ts'
import type { Account } from '../../domain/account/account.ts'
import { loginDecider, normaliseEmail } from '../../domain/account/login.ts'
import type { PersonKeySealed } from '../../domain/installation/keys.ts'
import { decode } from '../../events/decode.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { PersonStore } from '../../stores/ports/person-store.ts'
import type { CommandContext } from '../core/handle.ts'
import { loadStream } from '../../events/load-stream.ts'
import { loadOrCreateSealedKey, unsealKey, type SealedKeyDefinition } from '../installation/link-key.ts'

const PERSON_KEY: SealedKeyDefinition<PersonKeySealed> = {
  stream: 'keys-persons',
  type: 'PersonKeySealed',
  purpose: 'person-key',
  origin: { actor: 'service', via: 'projection', correlation: 'person-key' },
}

/** What one root key is for: each purpose has a key of its own. */
class PersonKey {
  readonly #names: KeyObject
  readonly #addresses: Buffer

  constructor(root: Buffer) {
    this.#names = createSecretKey(derive(root, 'log-in names'))
    this.#addresses = derive(root, 'addresses')
  }

  /** Who has the log alone can't tell whose name it is, nor test a guess. @param email normalised */
  loginNameHmac(email: string): string {
    return hmac(this.#names, email).toString('hex')
  }

  seal(email: string, account: number): Buffer {
    return encrypt(this.#addresses, Buffer.from(email), `account-${account}`)
  }

  /** undefined for what was sealed for another account, by another key, or is damaged. */
  open(sealed: Buffer, account: number): string | undefined {
    return decrypt(this.#addresses, sealed, `account-${account}`)?.toString()
  }
}

/**
 * The log's person key. It is made with the first account, once for all instances, and stays for good: the names of log-ins
 * hang on it. After a rotation of the master key it is sealed again.
 */
class PersonKeyProvider {
  #cachedKey: PersonKey | undefined

  constructor(
    private readonly writing: CommandContext,
    private readonly keys: MasterKeys,
  ) {}

  /** undefined as long as there is none. @throws WrongMasterKey, StoreUnavailable */
  async findKey(): Promise<PersonKey | undefined> {
    if (this.#cachedKey !== undefined) return this.#cachedKey
    return (await readLastKeyEvent(this.writing.store)) === undefined ? undefined : this.findOrCreateKey()
  }

  /** @throws WrongMasterKey, StoreUnavailable */
  async findOrCreateKey(): Promise<PersonKey> {
    if (this.#cachedKey !== undefined) return this.#cachedKey
    const { root, revision } = await loadOrCreateSealedKey(this.writing, this.keys, PERSON_KEY)
    const key = new PersonKey(root)
    // One that a closed log could not keep is nobody's: what is named by it is refused.
    if (revision >= 0n) this.#cachedKey = key
    return key
  }
}

/** Whether the keys open the log's person key, where there is one. @throws WrongMasterKey, StoreUnavailable */
export async function checkPersonKey(store: EventStore, keys: MasterKeys): Promise<void> {
  const last = await readLastKeyEvent(store)
  if (last !== undefined) unsealKey(decode<PersonKeySealed>(last).data, keys, PERSON_KEY.purpose)
}

const readLastKeyEvent = async (store: EventStore) => (await store.read(PERSON_KEY.stream, { last: 1 })).at(-1)

/** As releases up to 4.0 named it: whoever has the log can test a guess. */
export const legacyLoginStream = (email: string) =>
  `login-${createHash('sha256').update(normaliseEmail(email)).digest('hex')}`

/** What stands where an address is shown that is nowhere any more, or not here. */
const placeholderOf = (account: number) => `account-${account}`

/** A log-in, and the stream that it stands in. */
export type LoginReference = { readonly stream: string; readonly account: number }

/** Who the accounts are: their addresses, which lie beside the log, and their log-in names, which the log has keyed. */
export class AccountDirectory {
  readonly #keys: PersonKeyProvider

  constructor(
    private readonly writing: CommandContext,
    private readonly persons: PersonStore,
    keys: MasterKeys,
  ) {
    this.#keys = new PersonKeyProvider(writing, keys)
  }

  /** Seals the key again where the master key was rotated. @throws WrongMasterKey, StoreUnavailable */
  async loadKey(): Promise<void> {
    await this.#keys.findKey()
  }

  /** Where a name is reserved from now on. @throws WrongMasterKey, StoreUnavailable */
  async loginStreamOf(email: string): Promise<string> {
    return `login-${(await this.#keys.findOrCreateKey()).loginNameHmac(normaliseEmail(email))}`
  }

  /** Whose log-in name it is. As much is read for a name that nobody has: it takes as long. */
  async findLogin(email: string): Promise<LoginReference | undefined> {
    const key = await this.#keys.findKey()
    const plain = legacyLoginStream(email)
    const streams = key === undefined ? [plain] : [`login-${key.loginNameHmac(normaliseEmail(email))}`, plain]
    const { store } = this.writing
    const found = await Promise.all(
      streams.map(async (stream) => ({ stream, login: (await loadStream(store, stream, loginDecider)).state })),
    )
    for (const { stream, login } of found) if (login.status === 'reserved') return { stream, account: login.account }
    return undefined
  }

  /** Before the log says that there is the account: what never comes to be is swept. */
  async storeEmail(account: number, email: string): Promise<void> {
    const key = await this.#keys.findOrCreateKey()
    await this.persons.put({ account, sealed: key.seal(email, account), at: this.writing.clock() })
  }

  /**
   * An account's address as it was registered; undefined where it was forgotten, or its row did not come along.
   * @param state as the log has it
   */
  async emailOf(account: number, state: Account): Promise<string | undefined> {
    if (state.status === 'unknown' || state.status === 'forgotten') return undefined
    if (state.email !== undefined) return state.email
    const [key, sealed] = await Promise.all([this.#keys.findKey(), this.persons.read(account)])
    return sealed && key?.open(sealed, account)
  }

  /** Likewise, for people: an account without an address is told by its number. */
  async displayNameOf(account: number, state: Account): Promise<string> {
    return (await this.emailOf(account, state)) ?? placeholderOf(account)
  }
}
