/**
 * The vault port: data that must be permanently deletable. Ciphertext of secrets until they are revealed, mails until
 * they are sent, and receipts, with which senders find their secrets again. It is neither backed up nor replayed:
 * deleted data cannot be recovered.
 * Adapters: sqlite/vault.ts, mongodb/vault.ts. Both pass test/contract/vault.ts.
 */
import type { Checkpoint } from './read-store.ts'
import type { MailName } from '../../domain/secret/secret.ts'

/** `sealed` is ciphertext that the vault does not interpret. Times are milliseconds since 1970. */
export type VaultEntry = {
  /** SHA-256 of the secret key, in hex. The secret's stream has the same digest in its name. */
  readonly digest: string
  readonly sealed: Buffer
  readonly createdAt: number
  readonly expiresAt: number
  readonly receipt: Receipt | null
}

/** The metadata key, encrypted with the API token with which the secret was shared. */
export type Receipt = {
  readonly token: string
  readonly sealed: Buffer
  readonly forgottenAt: number
}

/** The lookup key of a receipt. Ordered by time so that the index grows at its end; random keys would dirty pages all over it. */
export type ReceiptKey = Pick<Receipt, 'forgottenAt'> & Pick<VaultEntry, 'digest'>

export type NewMail = {
  readonly kind: MailName
  readonly sealed: Buffer
  /** null until the event that the mail reports has happened. */
  readonly dueAt: number | null
}

/**
 * Longest time in milliseconds that a scheduled mail may wait. A mail with a later due time was written while the clock
 * was ahead and counts as due now; otherwise a clock that was 30 days ahead would delay mails by 30 days.
 */
export const MAX_MAIL_DELAY_MS = 15 * 60_000

export type QueuedMail = {
  /** `{digest}/{kind}`. */
  readonly id: string
  readonly digest: string
  readonly kind: MailName
  readonly sealed: Buffer
  readonly attempts: number
}

/** A claim of a mail as other claimants see it. Its holder increases `number` periodically as a heartbeat. */
export type MailClaim = { readonly mail: string; readonly claimant: string; readonly number: number }

/** An ended secret. With `noticeAt`, its owner is notified by mail, due at that time. */
export type EndedVaultSecret = { readonly digest: string; readonly noticeAt?: number }

/** An item encrypted with the master key; its first 8 bytes are the key's id. */
export type SealedItem = {
  readonly kind: 'entry' | 'mail'
  /** The digest, or the mail's id. */
  readonly name: string
  readonly sealed: Buffer
}

/** One item of an export of the vault. Claims of mails are not exported: the target has no running sender yet. */
export type VaultItem =
  | (Omit<VaultEntry, 'receipt'> & { readonly kind: 'entry'; readonly confirmed: boolean })
  | (Receipt & { readonly kind: 'receipt'; readonly digest: string })
  | {
      readonly kind: 'mail'
      readonly digest: string
      readonly mail: MailName
      readonly sealed: Buffer
      readonly createdAt: number
      readonly dueAt: number | null
      readonly confirmed: boolean
    }

/** The number of unread secrets, of receipts, and of mails to be sent: those with a due time, also a later one. */
type VaultCounts = { readonly secrets: number; readonly receipts: number; readonly mails: number }

/** Every promise resolves once the change is durable, and rejects with StoreUnavailable if it was not made or may be lost. */
export interface Vault {
  /** Created together with the vault; it moves with the vault's data. */
  identity(): Promise<string>
  /** Stores the entry with its mails, all or nothing. */
  put(entry: VaultEntry, mails: readonly NewMail[]): Promise<void>
  readSecret(digest: string): Promise<Buffer | undefined>
  /** The existing receipts of these secrets, by digest. */
  receipts(secrets: readonly ReceiptKey[]): Promise<ReadonlyMap<string, Receipt>>
  /** Deletes the entries and their link mails; schedules or deletes the notice mail. Idempotent. */
  end(ended: readonly EndedVaultSecret[], checkpoint?: Checkpoint): Promise<void>
  checkpoint(): Promise<Checkpoint | undefined>

  /**
   * Claims one mail for this claimant: one that is due, or more than MAX_MAIL_DELAY_MS from being due, and not claimed
   * by a live claimant.
   * @param hasEnded whether the holder of an existing claim has ended; claims contain no times
   */
  claimMail(
    now: number,
    claimant: string,
    hasEnded: (claim: MailClaim) => Promise<boolean>,
  ): Promise<QueuedMail | undefined>
  /** Heartbeat of the claim's holder. False if another claimant has taken over the claim. */
  renewClaim(id: string, claimant: string): Promise<boolean>
  /** A write that leaves the claim unchanged. If it is not acknowledged, the holder cannot renew the claim either. */
  probeClaim(claim: MailClaim): Promise<void>
  /** Releases the claim and reschedules the mail. */
  postponeMail(id: string, claimant: string, dueAt: number): Promise<void>
  removeMail(id: string): Promise<void>
  /**
   * The due time of the next scheduled mail, claimed or not; undefined if none is scheduled.
   * @param now if given, a mail more than MAX_MAIL_DELAY_MS away counts as due now
   */
  nextMail(now?: number): Promise<number | undefined>

  /** Digests of expired entries. */
  expired(now: number, limit: number): Promise<string[]>
  /** Digests of secrets with an entry or a mail created before `before` that were never confirmed: their stream may not exist. */
  unconfirmed(before: number, limit: number): Promise<string[]>
  confirm(digests: readonly string[]): Promise<void>
  deleteExpiredReceipts(now: number): Promise<void>

  counts(): Promise<VaultCounts>

  /** Items not encrypted with the master key of this id (hex), in order of name, following `after` (exclusive, '' to start). */
  findSealedByOtherKeys(kind: SealedItem['kind'], key: string, after: string, limit: number): Promise<SealedItem[]>
  /** Replaces the ciphertext if it is still that of `item` (compare-and-set). */
  reseal(item: SealedItem, sealed: Buffer): Promise<void>

  /** All items, page by page. Items inserted or deleted during the iteration may or may not be included. */
  contents(): AsyncIterable<VaultItem>
  /** Inserts items exported from another vault, each all or nothing. Existing items stay unchanged. */
  restore(items: readonly VaultItem[]): Promise<void>

  /** Erases remains of deleted data from the files. False if other connections prevented it. */
  shred(): Promise<boolean>
  close(): Promise<void>
}
