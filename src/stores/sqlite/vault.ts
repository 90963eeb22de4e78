import { emitWarning, type WarningLogger } from '../../runtime/logger.ts'
import type { PersonStore } from '../ports/person-store.ts'
import type { Checkpoint } from '../ports/read-store.ts'
import {
  MAX_MAIL_DELAY_MS,
  type EndedVaultSecret,
  type MailClaim,
  type NewMail,
  type QueuedMail,
  type ReceiptKey,
  type SealedItem,
  type Vault,
  type VaultEntry,
} from '../ports/vault.ts'
import { vaultThread, type StorageThread } from './storage-thread.ts'
import { Shredder, VaultFile } from './vault/vault-file.ts'
import type { ClaimableMail } from './vault/vault-writer.ts'
import { contents } from './vault/contents.ts'
import { storedCheckpoint, toJson } from '../checkpoint-json.ts'
import { inPages } from '../pages.ts'
import { walThread, type WalThread } from './wal.ts'

const PAGE = 100

/** Persons' rows in the vault's file. Shredding the vault also erases remains of deleted rows. */
const personsIn = (file: VaultFile): PersonStore => ({
  put: (row) => file.change('putPerson', row),
  restore: (row) => file.change('restorePerson', row),
  readPerson: async (account) => file.read((connection) => connection.person.get(account)),
  forget: (accounts) => file.change('forgetPersons', accounts),
  unconfirmed: async (before, limit) => file.read((connection) => connection.unconfirmedPersons.all(before, limit)),
  confirm: (accounts) => file.change('confirmPersons', accounts),
  async *all() {
    const read = (after: number) => file.read((connection) => connection.personsAfter.all(after, PAGE))
    for await (const page of inPages(0, PAGE, ({ account }) => account, read)) yield* page
  },
})

export type SqliteVault = Vault & {
  readonly persons: PersonStore
  /** Limits the file to this many pages of 4 KiB, to simulate a full disk. */
  limitPages(pages: number): Promise<void>
}

type SqliteVaultOptions = {
  /** Called if the storage thread ends. */
  readonly warn?: WarningLogger
  /** Truncates the WAL; by default the process's thread for that. */
  readonly thread?: WalThread
  /** Writes the vault; by default the process's thread for that. */
  readonly storageThread?: StorageThread
}

/**
 * Opens the vault in a separate file, or creates it. Several processes may use it concurrently.
 * @throws UnreadableFile for a file of another program or of a newer release; StoreUnavailable
 */
export function openSqliteVault(
  path: string,
  { warn = emitWarning, thread = walThread, storageThread = vaultThread }: SqliteVaultOptions = {},
): SqliteVault {
  const file = new VaultFile(path, { thread: storageThread, warn })
  const shredder = new Shredder(file, thread)
  return {
    identity: () => file.change('readOrCreateIdentity'),
    ...secretOperations(file),
    ...mailOperations(file),
    ...maintenanceOperations(file),
    ...contents(file),
    persons: personsIn(file),
    limitPages: (pages) => file.limitPages(pages),
    shred: () => shredder.shred(),
    async close() {
      await shredder.close()
      await file.close()
    },
  }
}

const secretOperations = (file: VaultFile) => ({
  put: (entry: VaultEntry, mails: readonly NewMail[]) => file.change('put', entry, mails),
  readSecret: async (digest: string) => file.read((connection) => connection.entry.get(digest)),
  async receipts(keys: readonly ReceiptKey[]) {
    const found = file.read((connection) =>
      keys.map(({ digest, forgottenAt }) => [digest, connection.receipt.get(forgottenAt, digest)] as const),
    )
    return new Map(
      found.flatMap(([digest, row]) =>
        row === undefined ? [] : [[digest, { token: row.token, sealed: row.sealed, forgottenAt: row.forgotten_at }]],
      ),
    )
  },
  end: (ended: readonly EndedVaultSecret[], checkpoint?: Checkpoint) =>
    file.change('end', ended, checkpoint && toJson(checkpoint)),
  async checkpoint() {
    const text = file.read((connection) => connection.checkpoint.get())
    return text === undefined ? undefined : storedCheckpoint.parse(JSON.parse(text))
  },
})

const mailOperations = (file: VaultFile) => ({
  claimMail: (now: number, claimant: string, hasEnded: (claim: MailClaim) => Promise<boolean>) =>
    claimMail(file, { now, claimant, hasEnded }),
  renewClaim: (id: string, claimant: string) => file.change('renewClaim', id, claimant),
  probeClaim: (claim: MailClaim) => file.change('probeClaim', claim),
  postponeMail: (id: string, claimant: string, dueAt: number) => file.change('postponeMail', id, claimant, dueAt),
  removeMail: (id: string) => file.change('removeMail', id),
  nextMail: async (now = Infinity) =>
    file.read((connection) =>
      (connection.lastMail.get() ?? 0) > now + MAX_MAIL_DELAY_MS ? now : connection.nextMail.get(),
    ) ?? undefined,
})

type SqliteMailClaimRequest = {
  readonly now: number
  readonly claimant: string
  readonly hasEnded: (claim: MailClaim) => Promise<boolean>
}

const NEVER = Number.MAX_SAFE_INTEGER

/** Claims an unclaimed mail if there is one, otherwise a mail whose claimant has ended. */
async function claimMail(
  file: VaultFile,
  { now, claimant, hasEnded }: SqliteMailClaimRequest,
): Promise<QueuedMail | undefined> {
  const claim = async (candidate: ClaimableMail) => {
    const mail = await file.change('claim', candidate, claimant, now)
    // Between threads, a Buffer becomes a Uint8Array.
    return mail && { ...mail, sealed: Buffer.from(mail.sealed) }
  }
  const findFreeMail = () =>
    file.read(
      (connection) => connection.freeMail.get(0, now) ?? connection.freeMail.get(now + MAX_MAIL_DELAY_MS + 1, NEVER),
    )
  for (let freeMail = findFreeMail(); freeMail; freeMail = findFreeMail()) {
    const mail = await claim(freeMail)
    if (mail !== undefined) return mail
  }
  const heldMails = file.read((connection) => [
    ...connection.heldMails.all(0, now),
    ...connection.heldMails.all(now + MAX_MAIL_DELAY_MS + 1, NEVER),
  ])
  for (const heldMail of heldMails) {
    const id = `${heldMail.digest}/${heldMail.kind}`
    if (!(await hasEnded({ mail: id, claimant: heldMail.claimant ?? '', number: heldMail.number }))) continue
    const mail = await claim(heldMail)
    if (mail !== undefined) return mail
  }
  return undefined
}

const maintenanceOperations = (file: VaultFile) => ({
  counts: async () => file.read((connection) => connection.counts.get()) ?? { secrets: 0, receipts: 0, mails: 0 },
  expired: async (now: number, limit: number) => file.read((connection) => connection.expired.all(now, limit)),
  unconfirmed: async (before: number, limit: number) =>
    file.read((connection) => connection.unconfirmed.all(before, before, limit)),
  confirm: (digests: readonly string[]) => file.change('confirm', digests),
  deleteExpiredReceipts: (now: number) => file.change('deleteExpiredReceipts', now),
  async findSealedByOtherKeys(
    kind: SealedItem['kind'],
    key: string,
    after: string,
    limit: number,
  ): Promise<SealedItem[]> {
    const rows = file.read((connection) =>
      (kind === 'entry' ? connection.entriesOfOtherKeys : connection.mailsOfOtherKeys).all(
        Buffer.from(key, 'hex'),
        after,
        limit,
      ),
    )
    return rows.map((row) => ({ kind, ...row }))
  },
  reseal: (from: SealedItem, sealed: Buffer) => file.change('reseal', from, sealed),
})
