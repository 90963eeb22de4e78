import { randomUUID } from 'node:crypto'
import type { MailName } from '../../../domain/secret/secret.ts'
import type { PersonRow } from '../../ports/person-store.ts'
import {
  MAX_MAIL_DELAY_MS,
  type EndedVaultSecret,
  type MailClaim,
  type NewMail,
  type QueuedMail,
  type SealedItem,
  type VaultEntry,
  type VaultItem,
} from '../../ports/vault.ts'
import type { FileWriter } from '../database-file.ts'
import { connect, VAULT_DAMAGE_REMEDY, type VaultConnection } from './connection.ts'

/** A call of one of the changes below. */
export type VaultChange = { readonly name: keyof VaultChanges; readonly values: readonly unknown[] }

/** Writes changes to the vault. */
export const vaultWriter: FileWriter<VaultConnection, VaultChange, unknown> = {
  connect,
  damageRemedy: VAULT_DAMAGE_REMEDY,
  write: (connection, changes) =>
    changes.map(({ name, values }) => {
      const change = CHANGES[name] as (connection: VaultConnection, ...values: readonly unknown[]) => unknown
      return change(connection, ...values)
    }),
}

export type VaultChanges = typeof CHANGES

/** The changes of the vault, by name. They run in a transaction on the storage thread. */
const CHANGES = {
  /**
   * The table is not part of the file format's version, because migrating would copy data that must be deletable. Older
   * releases ignore it.
   */
  readOrCreateIdentity({ db }: VaultConnection): string {
    db.exec('CREATE TABLE IF NOT EXISTS born (one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT NOT NULL)')
    db.prepare('INSERT OR IGNORE INTO born VALUES (1, ?)').run(randomUUID())
    return String(db.prepare('SELECT identity FROM born').pluck().get())
  },

  put(connection: VaultConnection, entry: VaultEntry, mails: readonly NewMail[]): void {
    const { digest, sealed, createdAt, expiresAt, receipt } = entry
    connection.insertEntry.run(digest, sealed, createdAt, expiresAt)
    if (receipt !== null) connection.insertReceipt.run(digest, receipt.token, receipt.sealed, receipt.forgottenAt)
    for (const mail of mails) connection.insertMail.run(digest, mail.kind, mail.sealed, createdAt, mail.dueAt)
  },

  /** @param checkpoint as JSON */
  end(connection: VaultConnection, ended: readonly EndedVaultSecret[], checkpoint: string | undefined): void {
    for (const { digest, noticeAt } of ended) {
      connection.deleteEntry.run(digest)
      connection.deleteLinks.run(digest)
      if (noticeAt === undefined) connection.deleteMail.run(digest, 'notice')
      else connection.makeDue.run(noticeAt, digest)
    }
    if (checkpoint !== undefined) connection.saveCheckpoint.run(checkpoint)
  },

  confirm(connection: VaultConnection, digests: readonly string[]): void {
    for (const digest of digests) {
      connection.confirmEntry.run(digest)
      connection.confirmMails.run(digest)
    }
  },

  deleteExpiredReceipts(connection: VaultConnection, now: number): void {
    connection.deleteReceipts.run(now)
  },

  /** @returns undefined if another claimant was faster */
  claim(
    connection: VaultConnection,
    { digest, kind, claimant: before, number }: ClaimableMail,
    claimant: string,
    now: number,
  ): QueuedMail | undefined {
    const row = connection.claim.get(claimant, digest, kind, before, number, now, now + MAX_MAIL_DELAY_MS)
    return row && { id: `${row.digest}/${row.kind}`, ...row }
  },

  renewClaim: (connection: VaultConnection, id: string, claimant: string): boolean =>
    connection.renew.run(...parseMailId(id), claimant).changes === 1,

  /** Makes a due mail due 1 ms earlier, which has no effect; writing the unchanged value would not write to the disk. */
  probeClaim(connection: VaultConnection, { mail, claimant, number }: MailClaim): void {
    connection.probe.run(...parseMailId(mail), claimant, number)
  },

  postponeMail(connection: VaultConnection, id: string, claimant: string, dueAt: number): void {
    connection.postpone.run(dueAt, ...parseMailId(id), claimant)
  },

  removeMail(connection: VaultConnection, id: string): void {
    connection.deleteMail.run(...parseMailId(id))
  },

  reseal(connection: VaultConnection, from: SealedItem, sealed: Buffer): void {
    if (from.kind === 'entry') connection.resealEntry.run(sealed, from.name, from.sealed)
    else connection.resealMail.run(sealed, ...parseMailId(from.name), from.sealed)
  },

  restore(connection: VaultConnection, items: readonly VaultItem[]): void {
    for (const item of items) restoreOne(connection, item)
  },

  putPerson(connection: VaultConnection, { account, sealed, at }: PersonRow): void {
    connection.putPerson.run(account, sealed, at)
  },

  restorePerson(connection: VaultConnection, { account, sealed, at }: PersonRow): void {
    connection.restorePerson.run(account, sealed, at)
  },

  forgetPersons(connection: VaultConnection, accounts: readonly number[]): void {
    for (const account of accounts) connection.forgetPerson.run(account)
  },

  confirmPersons(connection: VaultConnection, accounts: readonly number[]): void {
    for (const account of accounts) connection.confirmPerson.run(account)
  },
} as const

/** A mail that may be claimed; `claimant` is null if it is unclaimed. */
export type ClaimableMail = {
  readonly digest: string
  readonly kind: MailName
  readonly claimant: string | null
  readonly number: number
}

function restoreOne(connection: VaultConnection, item: VaultItem): void {
  const { kind, digest, sealed } = item
  if (kind === 'entry') {
    connection.restoreEntry.run(digest, sealed, item.createdAt, item.expiresAt, item.confirmed ? 1 : 0)
  } else if (kind === 'receipt') {
    connection.restoreReceipt.run(digest, item.token, sealed, item.forgottenAt)
  } else {
    connection.restoreMail.run(digest, item.mail, sealed, item.createdAt, item.dueAt, item.confirmed ? 1 : 0)
  }
}

const parseMailId = (id: string): [digest: string, kind: MailName] => {
  const slash = id.indexOf('/')
  return [id.slice(0, slash), id.slice(slash + 1) as MailName]
}
