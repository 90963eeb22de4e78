import type Database from 'better-sqlite3'
import { randomUUID } from 'node:crypto'
import type { MailName } from '../../domain/secret/secret.ts'
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
import { Shredder, VaultFile, type VaultConnection } from './vault/vault-file.ts'
import { contents } from './vault/contents.ts'
import { storedCheckpoint, toJson } from '../checkpoint-json.ts'
import { inPages } from '../pages.ts'
import { walThread, type WalThread } from './wal.ts'

const PAGE = 100

/** Persons' rows in the vault's file. Shredding the vault also erases remains of deleted rows. */
const personsIn = (file: VaultFile): PersonStore => ({
  put: ({ account, sealed, at }) => file.change((connection) => void connection.putPerson.run(account, sealed, at)),
  restore: ({ account, sealed, at }) =>
    file.change((connection) => void connection.restorePerson.run(account, sealed, at)),
  readPerson: async (account) => file.read((connection) => connection.person.get(account)),
  forget: (accounts) =>
    file.change((connection) => {
      for (const account of accounts) connection.forgetPerson.run(account)
    }),
  unconfirmed: async (before, limit) => file.read((connection) => connection.unconfirmedPersons.all(before, limit)),
  confirm: (accounts) =>
    file.change((connection) => {
      for (const account of accounts) connection.confirmPerson.run(account)
    }),
  async *all() {
    const read = (after: number) => file.read((connection) => connection.personsAfter.all(after, PAGE))
    for await (const page of inPages(0, PAGE, ({ account }) => account, read)) yield* page
  },
})

export type SqliteVault = Vault & {
  readonly persons: PersonStore
  /** Set while callers wait for a commit; resolves just before they resume. */
  pendingCommit(): Promise<void> | undefined
  /** Limits the file to this many pages of 4 KiB, to simulate a full disk. */
  limitPages(pages: number): void
}

/**
 * Opens the vault in a separate file, or creates it. Several processes may use it concurrently.
 * @throws UnreadableFile for a file of another program or of a newer release; StoreUnavailable
 */
export function openSqliteVault(path: string, thread: WalThread = walThread): SqliteVault {
  const file = new VaultFile(path)
  const shredder = new Shredder(file, thread)
  return {
    identity: () => file.change(({ db }) => readOrCreateIdentity(db)),
    ...secretOperations(file),
    ...mailOperations(file),
    ...maintenanceOperations(file),
    ...contents(file),
    persons: personsIn(file),
    pendingCommit: () => file.pendingCommit,
    limitPages: (pages) => file.read(({ db }) => void db.pragma(`max_page_count = ${pages}`)),
    shred: () => shredder.shred(),
    async close() {
      await shredder.close()
      await file.close()
    },
  }
}

/**
 * The table is not part of the file format's version, because migrating would copy data that must be deletable. Older
 * releases ignore it.
 */
function readOrCreateIdentity(db: Database.Database): string {
  db.exec('CREATE TABLE IF NOT EXISTS born (one INTEGER PRIMARY KEY CHECK (one = 1), identity TEXT NOT NULL)')
  db.prepare('INSERT OR IGNORE INTO born VALUES (1, ?)').run(randomUUID())
  return String(db.prepare('SELECT identity FROM born').pluck().get())
}

const secretOperations = (file: VaultFile) => ({
  put: (entry: VaultEntry, mails: readonly NewMail[]) => file.change((connection) => insert(connection, entry, mails)),
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
    file.changeLater((connection) => {
      for (const secret of ended) endSecret(connection, secret)
      if (checkpoint !== undefined) connection.saveCheckpoint.run(toJson(checkpoint))
    }),
  async checkpoint() {
    const text = file.read((connection) => connection.checkpoint.get())
    return text === undefined ? undefined : storedCheckpoint.parse(JSON.parse(text))
  },
})

const mailOperations = (file: VaultFile) => ({
  claimMail: (now: number, claimant: string, hasEnded: (claim: MailClaim) => Promise<boolean>) =>
    claimMail(file, { now, claimant, hasEnded }),
  renewClaim: (id: string, claimant: string) =>
    file.change((connection) => connection.renew.run(...parseMailId(id), claimant).changes === 1),
  // Makes a due mail due 1 ms earlier, which has no effect; writing the unchanged value would not write to the disk.
  probeClaim: ({ mail, claimant, number }: MailClaim) =>
    file.change((connection) => void connection.probe.run(...parseMailId(mail), claimant, number)),
  postponeMail: (id: string, claimant: string, dueAt: number) =>
    file.change((connection) => void connection.postpone.run(dueAt, ...parseMailId(id), claimant)),
  removeMail: (id: string) => file.change((connection) => void connection.deleteMail.run(...parseMailId(id))),
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
  type ClaimCandidate = { digest: string; kind: MailName; claimant: string | null; number: number }
  const claim = async ({ digest, kind, claimant: before, number }: ClaimCandidate) => {
    const row = await file.change((connection) =>
      connection.claim.get(claimant, digest, kind, before, number, now, now + MAX_MAIL_DELAY_MS),
    )
    return row && { id: `${row.digest}/${row.kind}`, ...row }
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
  confirm: (digests: readonly string[]) =>
    file.change((connection) => {
      for (const digest of digests) {
        connection.confirmEntry.run(digest)
        connection.confirmMails.run(digest)
      }
    }),
  deleteExpiredReceipts: (now: number) => file.change((connection) => void connection.deleteReceipts.run(now)),
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
  reseal: (from: SealedItem, sealed: Buffer) =>
    file.change((connection) => {
      if (from.kind === 'entry') connection.resealEntry.run(sealed, from.name, from.sealed)
      else connection.resealMail.run(sealed, ...parseMailId(from.name), from.sealed)
    }),
})

function insert(connection: VaultConnection, entry: VaultEntry, mails: readonly NewMail[]): void {
  const { digest, sealed, createdAt, expiresAt, receipt } = entry
  connection.insertEntry.run(digest, sealed, createdAt, expiresAt)
  if (receipt !== null) connection.insertReceipt.run(digest, receipt.token, receipt.sealed, receipt.forgottenAt)
  for (const mail of mails) connection.insertMail.run(digest, mail.kind, mail.sealed, createdAt, mail.dueAt)
}

function endSecret(connection: VaultConnection, { digest, noticeAt }: EndedVaultSecret): void {
  connection.deleteEntry.run(digest)
  connection.deleteLinks.run(digest)
  if (noticeAt === undefined) connection.deleteMail.run(digest, 'notice')
  else connection.makeDue.run(noticeAt, digest)
}

const parseMailId = (id: string): [digest: string, kind: MailName] => {
  const slash = id.indexOf('/')
  return [id.slice(0, slash), id.slice(slash + 1) as MailName]
}
