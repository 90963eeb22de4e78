import type Database from 'better-sqlite3'
import { inPages } from '../../pages.ts'
import type { Vault, VaultItem } from '../../ports/vault.ts'
import type { contentStatements, EntryRow, MailRow, ReceiptRow, VaultRow } from './statements.ts'
import type { VaultFile } from './vault-file.ts'

const PAGE = 100

type ContentStatements = ReturnType<typeof contentStatements>

export const contents = (file: VaultFile): Pick<Vault, 'contents' | 'restore'> => ({
  async *contents() {
    yield* readItems(file, (connection) => connection.entriesAfter, entryItem)
    yield* readItems(file, (connection) => connection.receiptsAfter, receiptItem)
    yield* readItems(file, (connection) => connection.mailsAfter, mailItem)
  },
  restore: (items) => file.change('restore', items),
})

async function* readItems<Row extends VaultRow>(
  file: VaultFile,
  choose: (connection: ContentStatements) => Database.Statement<[number, number], Row>,
  itemOf: (row: Row) => VaultItem,
): AsyncIterable<VaultItem> {
  const read = (after: number) => file.read((connection) => choose(connection).all(after, PAGE))
  for await (const page of inPages(0, PAGE, ({ rowid }) => rowid, read)) yield* page.map(itemOf)
}

const entryItem = ({ digest, sealed, created_at, expires_at, confirmed }: EntryRow): VaultItem => ({
  kind: 'entry',
  digest,
  sealed,
  createdAt: created_at,
  expiresAt: expires_at,
  confirmed: confirmed === 1,
})

const receiptItem = ({ digest, token, sealed, forgotten_at }: ReceiptRow): VaultItem => ({
  kind: 'receipt',
  digest,
  token,
  sealed,
  forgottenAt: forgotten_at,
})

const mailItem = ({ digest, kind, sealed, created_at, due_at, confirmed }: MailRow): VaultItem => ({
  kind: 'mail',
  digest,
  mail: kind,
  sealed,
  createdAt: created_at,
  dueAt: due_at,
  confirmed: confirmed === 1,
})
