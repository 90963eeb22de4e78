/**
 * The person store port: one row for each account with the encrypted data that identifies its person. It is kept
 * outside the event log so that a person's data can be erased completely.
 * Adapters: sqlite/vault.ts, mongodb/mongodb.ts. Both pass test/contract/persons.ts.
 */

/** `sealed` is ciphertext that the store does not interpret. */
export type PersonRow = {
  readonly account: number
  readonly sealed: Buffer
  /** When the row was written, in milliseconds since 1970. */
  readonly at: number
}

/** Every promise resolves once the change is durable, and rejects with StoreUnavailable if it was not made or may be lost. */
export interface PersonStore {
  /** Inserts or replaces the account's row and marks it unconfirmed: the account's event may not be stored yet. */
  put(row: PersonRow): Promise<void>
  /** For restoring from a copy: does nothing if the account has a row or was erased in this store. */
  restore(row: PersonRow): Promise<void>
  readPerson(account: number): Promise<Buffer | undefined>
  /** Deletes these accounts' rows permanently and records the account ids as erased. Idempotent. */
  forget(accounts: readonly number[]): Promise<void>
  /** Accounts whose row is older than `before` and was never confirmed: their registration may have failed. */
  unconfirmed(before: number, limit: number): Promise<number[]>
  confirm(accounts: readonly number[]): Promise<void>
  /** All rows in pages, by account id. Rows inserted or deleted during the iteration may or may not be included. */
  all(): AsyncIterable<PersonRow>
}
