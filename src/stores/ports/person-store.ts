/**
 * The persons port: what makes the person behind an account identifiable, sealed, one row for each account. It lies beside
 * the log and not in it, so that a person can be forgotten: a row that is deleted is nowhere any more.
 * Adapters: sqlite/vault.ts, mongodb/mongodb.ts. Both pass test/contract/persons.ts.
 */

/** Sealed bytes are nothing to the store. */
export type PersonRow = {
  /** The account's id. */
  readonly account: number
  readonly sealed: Buffer
  /** When it was put in, in milliseconds since 1970. */
  readonly at: number
}

/** Every promise resolves when the change is durable, and rejects with StoreUnavailable when it is not, or may not last. */
export interface PersonStore {
  /** In the place of the account's row, where it has one; whether the account exists is to be confirmed then. */
  put(row: PersonRow): Promise<void>
  /** From a copy: only where the account has no row and was never forgotten here. */
  putBack(row: PersonRow): Promise<void>
  read(account: number): Promise<Buffer | undefined>
  /** Deletes these accounts' rows for good, and remembers their numbers. Done twice, it changes nothing more. */
  forget(accounts: readonly number[]): Promise<void>
  /** Accounts with a row from before a time, of which nobody has said that they exist. */
  unconfirmed(before: number, limit: number): Promise<number[]>
  confirm(accounts: readonly number[]): Promise<void>
  /** Every row, by account, page by page, for a copy: what is put in or deleted meanwhile may be among them or not. */
  all(): AsyncIterable<PersonRow>
}
