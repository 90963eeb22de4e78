import { createSecretKey, type KeyObject } from 'node:crypto'
import { decrypt, encrypt } from '../../credentials/sealing.ts'
import { derive, hmac } from '../../credentials/key-derivation.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import type { PersonKeySealed } from '../../domain/installation/keys.ts'
import { decode } from '../../events/decode.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Writing } from '../core/handle.ts'
import { openSealedKey, unsealKey, type KeyKind } from '../installation/sealed-key.ts'

const PERSON_KEY: KeyKind<PersonKeySealed> = {
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
  nameOf(email: string): string {
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
export class PersonKeys {
  #known: PersonKey | undefined

  constructor(
    private readonly writing: Writing,
    private readonly keys: MasterKeys,
  ) {}

  /** undefined as long as there is none. @throws WrongMasterKey, StoreUnavailable */
  async known(): Promise<PersonKey | undefined> {
    if (this.#known !== undefined) return this.#known
    return (await lastIn(this.writing.store)) === undefined ? undefined : this.made()
  }

  /** @throws WrongMasterKey, StoreUnavailable */
  async made(): Promise<PersonKey> {
    if (this.#known !== undefined) return this.#known
    const { root, revision } = await openSealedKey(this.writing, this.keys, PERSON_KEY)
    const key = new PersonKey(root)
    // One that a closed log could not keep is nobody's: what is named by it is refused.
    if (revision >= 0n) this.#known = key
    return key
  }
}

/** Whether the keys open the log's person key, where there is one. @throws WrongMasterKey, StoreUnavailable */
export async function checkPersonKey(store: EventStore, keys: MasterKeys): Promise<void> {
  const last = await lastIn(store)
  if (last !== undefined) unsealKey(decode<PersonKeySealed>(last).data, keys, PERSON_KEY.purpose)
}

const lastIn = async (store: EventStore) => (await store.read(PERSON_KEY.stream, { last: 1 })).at(-1)
