import { createHash, createSecretKey, type KeyObject } from 'node:crypto'
import { derive, hmac } from '../../credentials/digests.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { decrypt, encrypt } from '../../credentials/sealing.ts'
import type { Account } from '../../domain/account/account.ts'
import { loginFold, normaliseEmail } from '../../domain/account/login.ts'
import type { PersonKeySealed } from '../../domain/installation/keys.ts'
import { decode } from '../../events/decode.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { PersonStore } from '../../stores/ports/person-store.ts'
import type { CommandContext } from '../core/command-context.ts'
import { loadStream } from '../../events/load-stream.ts'
import { loadOrCreateSealedKey, unsealKey, type SealedKeyDefinition } from '../installation/link-key.ts'

/**
 * Finds accounts by login name, which the event log holds as an HMAC, and reads their e-mail addresses from the person
 * store.
 */
export class AccountDirectory {
  readonly #keys: PersonKeyProvider

  constructor(
    private readonly context: CommandContext,
    private readonly persons: PersonStore,
    keys: MasterKeys,
  ) {
    this.#keys = new PersonKeyProvider(context, keys)
  }

  /** Re-seals the person key if the master key was rotated. @throws WrongMasterKey, StoreUnavailable */
  async loadKey(): Promise<void> {
    await this.#keys.findKey()
  }

  /** The stream in which a new login name is reserved. @throws WrongMasterKey, StoreUnavailable */
  async loginStreamOf(email: string): Promise<string> {
    return `login-${(await this.#keys.findOrCreateKey()).loginNameHmac(normaliseEmail(email))}`
  }

  async findLogin(email: string): Promise<LoginReference | undefined> {
    for (const { stream, login } of await this.#loadLogins(email))
      if (login.status === 'reserved') return { stream, account: login.account }
    return undefined
  }

  /** The error for an address without an account: whether it had one is said to operators only. */
  async noAccountError(email: string): Promise<RequestError> {
    const address = email.slice(0, 254)
    const logins = await this.#loadLogins(email)
    const isForgotten =
      logins.every(({ login }) => login.status === 'free') && logins.some(({ revision }) => revision !== 'none')
    return new RequestError(
      'missing',
      isForgotten
        ? `The account ${address} was forgotten. Its history remains under its number: see \`user list\` and \`audit user NUMBER\``
        : `There is no account ${address}`,
    )
  }

  /** Reads the same number of streams whether or not the login name exists, so the response time does not reveal it. */
  async #loadLogins(email: string) {
    const key = await this.#keys.findKey()
    const legacyStream = legacyLoginStream(email)
    const streams =
      key === undefined ? [legacyStream] : [`login-${key.loginNameHmac(normaliseEmail(email))}`, legacyStream]
    const { store } = this.context
    return Promise.all(
      streams.map(async (stream) => {
        const { state: login, revision } = await loadStream(store, stream, loginFold)
        return { stream, login, revision }
      }),
    )
  }

  /** Call it before the account's first event is appended; the sweeper deletes rows without an account. */
  async storeEmail(account: number, email: string): Promise<void> {
    const key = await this.#keys.findOrCreateKey()
    await this.persons.put({ account, sealed: key.seal(email, account), at: this.context.clock() })
  }

  /**
   * The account's e-mail address as registered; undefined if the account was forgotten or its row was not copied.
   * @param state the account's state from the event log
   */
  async emailOf(account: number, state: Account): Promise<string | undefined> {
    if (state.status === 'unknown' || state.status === 'forgotten') return undefined
    if (state.email !== undefined) return state.email
    const [key, sealed] = await Promise.all([this.#keys.findKey(), this.persons.readPerson(account)])
    return sealed && key?.open(sealed, account)
  }

  /** Like `emailOf`, for display: `account-{number}` if there is no address. */
  async displayNameOf(account: number, state: Account): Promise<string> {
    return (await this.emailOf(account, state)) ?? placeholderOf(account)
  }
}

/**
 * The log's person key: created with the first account, once for all instances, and never replaced, because the names
 * of the login streams are computed with it. After the master key is rotated, it is sealed again with the new one.
 */
class PersonKeyProvider {
  #cachedKey: PersonKey | undefined

  constructor(
    private readonly context: CommandContext,
    private readonly keys: MasterKeys,
  ) {}

  /** Returns undefined if the log has none yet. @throws WrongMasterKey, StoreUnavailable */
  async findKey(): Promise<PersonKey | undefined> {
    if (this.#cachedKey !== undefined) return this.#cachedKey
    return (await readLastKeyEvent(this.context.store)) === undefined ? undefined : this.findOrCreateKey()
  }

  /** @throws WrongMasterKey, StoreUnavailable */
  async findOrCreateKey(): Promise<PersonKey> {
    if (this.#cachedKey !== undefined) return this.#cachedKey
    const { root, revision } = await loadOrCreateSealedKey(this.context, this.keys, PERSON_KEY)
    const key = new PersonKey(root)
    // A negative revision means that a closed log could not store the key. It is not cached; appends that use it fail.
    if (revision >= 0n) this.#cachedKey = key
    return key
  }
}

/** Two keys derived from one root key: an HMAC key for login names and an encryption key for e-mail addresses. */
class PersonKey {
  readonly #loginNameKey: KeyObject
  readonly #addressKey: Buffer

  constructor(root: Buffer) {
    this.#loginNameKey = createSecretKey(derive(root, 'log-in names'))
    this.#addressKey = derive(root, 'addresses')
  }

  /** Without the key, the event log neither reveals a login name nor lets a guess be tested. @param email normalised */
  loginNameHmac(email: string): string {
    return hmac(this.#loginNameKey, email).toString('hex')
  }

  seal(email: string, account: number): Buffer {
    return encrypt(this.#addressKey, Buffer.from(email), `account-${account}`)
  }

  /** Returns undefined if the address was sealed for another account or with another key, or is damaged. */
  open(sealed: Buffer, account: number): string | undefined {
    return decrypt(this.#addressKey, sealed, `account-${account}`)?.toString()
  }
}

const readLastKeyEvent = async (store: EventStore) => (await store.readStream(PERSON_KEY.stream, { last: 1 })).at(-1)

const PERSON_KEY: SealedKeyDefinition<PersonKeySealed> = {
  stream: 'keys-persons',
  type: 'PersonKeySealed',
  purpose: 'person-key',
  origin: { actor: 'service', via: 'projection', correlation: 'person-key' },
}

/** Shown instead of an address that was deleted or is not available in this installation. */
const placeholderOf = (account: number) => `account-${account}`

/**
 * Checks that the master keys can open the log's person key, if there is one. @throws WrongMasterKey, StoreUnavailable
 */
export async function checkPersonKey(store: EventStore, keys: MasterKeys): Promise<void> {
  const last = await readLastKeyEvent(store)
  if (last !== undefined) unsealKey(decode<PersonKeySealed>(last).data, keys, PERSON_KEY.purpose)
}

export type LoginReference = { readonly stream: string; readonly account: number }

/** The name that releases up to 4.0 used: a plain hash, so a copy of the log is enough to test a guess. */
export const legacyLoginStream = (email: string) =>
  `login-${createHash('sha256').update(normaliseEmail(email)).digest('hex')}`
