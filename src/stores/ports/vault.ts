/**
 * The vault port: what may be deleted for good. Ciphertext of secrets until they are read, mails until they are sent,
 * and what a sender needs to find a secret again. No backup and no replay: what is gone is gone.
 * Adapters: sqlite/vault.ts, mongodb/vault.ts. Both pass test/contract/vault.ts.
 */
import type { PositionOrStart, Position } from './event-store.ts'
import type { MailName } from '../../domain/secret/secret.ts'

/** Sealed bytes are nothing to the vault. Times are milliseconds since 1970. */
export type VaultEntry = {
  /** SHA-256 of the secret key, in hex: names the secret's stream too. */
  readonly digest: string
  readonly sealed: Buffer
  readonly createdAt: number
  readonly expiresAt: number
  readonly receipt: Receipt | null
}

/** The metadata key, sealed with the API token that the secret was shared with. */
export type Receipt = {
  /** The API token's id. */
  readonly token: string
  readonly sealed: Buffer
  readonly forgottenAt: number
}

/** Where a receipt is found: an index by time grows at its end, where one of random names is written all over. */
export type ReceiptKey = Pick<Receipt, 'forgottenAt'> & Pick<VaultEntry, 'digest'>

export type NewMail = {
  readonly kind: MailName
  readonly sealed: Buffer
  /** null while it waits for what it tells of. */
  readonly dueAt: number | null
}

/**
 * Milliseconds that a mail waits at most for its time. What is due later than that was written by a clock that was ahead,
 * and counts as due: it would wait for 30 days otherwise, where the clock was 30 days ahead for a while.
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

/** A claim of a mail, as those see it who wait for the mail: its holder raises the number again and again. */
export type MailClaim = { readonly mail: string; readonly claimant: string; readonly number: number }

/** How a secret ended; after `noticeAt` its owner is to be told. */
export type EndedVaultSecret = { readonly digest: string; readonly noticeAt?: number }

/** How far the log has been followed, and which log that was. */
export type VaultCheckpoint = {
  readonly position: PositionOrStart
  readonly log: string
  readonly event: { readonly id: string; readonly position: Position } | null
}

/** Something that the master key sealed, the key's id in its first 8 bytes. */
export type SealedItem = {
  readonly kind: 'entry' | 'mail'
  /** The digest, or the mail's id. */
  readonly name: string
  readonly sealed: Buffer
}

/** One thing in the vault, as a copy of the vault has it. Claims of mails are not copied: nobody sends them there yet. */
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

/** How much there is in a vault: secrets that wait for their readers, what their senders find them by, mails to be sent. */
export type VaultCounts = { readonly secrets: number; readonly receipts: number; readonly mails: number }

/** Every promise resolves when the change is durable, and rejects with StoreUnavailable when it is not, or may not last. */
export interface Vault {
  /** Made with it, and its own wherever it is moved as it is. */
  identity(): Promise<string>
  /** The entry with its mails, all or nothing. */
  put(entry: VaultEntry, mails: readonly NewMail[]): Promise<void>
  read(digest: string): Promise<Buffer | undefined>
  /** Of these secrets, the receipts that there are, by digest. */
  receipts(secrets: readonly ReceiptKey[]): Promise<ReadonlyMap<string, Receipt>>
  /** Deletes entries and mails with links; the notice falls due or goes too. Done twice, it changes nothing more. */
  end(ended: readonly EndedVaultSecret[], checkpoint?: VaultCheckpoint): Promise<void>
  checkpoint(): Promise<VaultCheckpoint | undefined>

  /**
   * One mail that is due, or further from it than DUE_AHEAD, and that nobody holds, for this claimant alone.
   * @param hasEnded whether the holder of a claim that stands there has ended: nothing in it is a time
   */
  claimMail(
    now: number,
    claimant: string,
    hasEnded: (claim: MailClaim) => Promise<boolean>,
  ): Promise<QueuedMail | undefined>
  /** A sign of the holder's life. False when the claim is another's by now. */
  renewClaim(id: string, claimant: string): Promise<boolean>
  /** A write that changes nothing of a claim: where it is not acknowledged, no holder can give a sign either. */
  probeClaim(claim: MailClaim): Promise<void>
  /** Gives the mail back, to be due later. */
  postponeMail(id: string, claimant: string, dueAt: number): Promise<void>
  removeMail(id: string): Promise<void>
  /**
   * When the next mail is due, claimed or not; undefined when none waits for a time.
   * @param now where it is given, a mail further from it than DUE_AHEAD is due now
   */
  nextMail(now?: number): Promise<number | undefined>

  /** Entries whose time is over. */
  expired(now: number, limit: number): Promise<string[]>
  /** Secrets with an entry or a mail from before a time, of which nobody has said that their stream exists. */
  unconfirmed(before: number, limit: number): Promise<string[]>
  confirm(digests: readonly string[]): Promise<void>
  /** Deletes receipts past their time. */
  deleteExpiredReceipts(now: number): Promise<void>

  counts(): Promise<VaultCounts>

  /** What is not sealed by the master key of this id (hex), behind a name ('' is before all), in order. */
  findSealedByOtherKeys(kind: SealedItem['kind'], key: string, behind: string, limit: number): Promise<SealedItem[]>
  /** Puts in what was sealed again, where nobody has changed it meanwhile. */
  reseal(from: SealedItem, sealed: Buffer): Promise<void>

  /** Everything there is, page by page, for a copy: what is put in or deleted meanwhile may be among it or not. */
  contents(): AsyncIterable<VaultItem>
  /** Puts in what another vault's contents were, all or nothing of each; what is there already stays as it is. */
  restore(items: readonly VaultItem[]): Promise<void>

  /** Removes what is left of deleted bytes anywhere in the files. False when others kept it from being done. */
  shred(): Promise<boolean>
  close(): Promise<void>
}
