import type { Filter } from 'mongodb'
import { inPages } from '../pages.ts'
import type { SealedItem, Vault, VaultItem } from '../ports/vault.ts'
import { readOrCreateIdentity, insertIfAbsent } from './linearizable-reads.ts'
import { WRITE, type MongoDatabase } from './connection.ts'
import {
  vaultCalls,
  type VaultEntryDocument,
  type ReceiptDocument,
  type MailDocument,
  type VaultCall,
} from './vault/collections.ts'
import { mailsIn } from './vault/mails.ts'
import { entryOf, mailOf, masterKeyIdOf, receiptOf, secretsIn } from './vault/secrets.ts'

/**
 * The vault in MongoDB: entries, receipts, mails and their claims. Data files and oplog may contain deleted data for a
 * while; it cannot be decrypted without the secret's key (SECURITY.md).
 */
export function vaultIn(mongo: MongoDatabase): Vault {
  const call = vaultCalls(mongo)
  return {
    identity: () => readOrCreateIdentity(mongo, 'vault'),
    ...secretsIn(call),
    ...mailsIn(call),
    ...createMaintenanceOperations(call),
    ...contentsIn(call),
    // Deleting remains from its files is up to the server.
    shred: async () => true,
    close: async () => undefined,
  }
}

type VaultMaintenance = Pick<
  Vault,
  'counts' | 'expired' | 'unconfirmed' | 'confirm' | 'deleteExpiredReceipts' | 'findSealedByOtherKeys' | 'reseal'
>

const createMaintenanceOperations = (call: VaultCall): VaultMaintenance => ({
  // Estimated counts come from metadata and scan nothing; mails that are due are few, and counted in their index.
  async counts() {
    const secrets = await call(({ entries }) => entries.estimatedDocumentCount())
    const receipts = await call((vault) => vault.receipts.estimatedDocumentCount())
    const mails = await call((vault) => vault.mails.countDocuments({ dueAt: { $gt: 0 } }))
    return { secrets, receipts, mails }
  },
  async expired(now, limit) {
    const found = await call(({ entries }) =>
      entries
        .find({ expiresAt: { $lte: now } }, { projection: { _id: 1 } })
        .sort({ expiresAt: 1 })
        .limit(limit)
        .toArray(),
    )
    return found.map(({ _id }) => _id)
  },
  async unconfirmed(before, limit) {
    const filter = { confirmed: false, createdAt: { $lt: before } }
    const entries = await call((vault) => vault.entries.find(filter, { projection: { _id: 1 }, limit }).toArray())
    const mails = await call((vault) => vault.mails.find(filter, { projection: { digest: 1 }, limit }).toArray())
    const digests = new Set([...entries.map(({ _id }) => _id), ...mails.map(({ digest }) => digest)])
    return [...digests].slice(0, limit)
  },
  async confirm(digests) {
    const confirmed = { $set: { confirmed: true } }
    await call(({ entries }) => entries.updateMany({ _id: { $in: [...digests] } }, confirmed), WRITE)
    await call(({ mails }) => mails.updateMany({ digest: { $in: [...digests] } }, confirmed), WRITE)
  },
  deleteExpiredReceipts: (now) =>
    call(async ({ receipts }) => void (await receipts.deleteMany({ forgottenAt: { $lte: now } })), WRITE),
  async findSealedByOtherKeys(kind, key, after, limit): Promise<SealedItem[]> {
    const filter = { sealedBy: { $ne: key }, _id: { $gt: after } }
    const options = { projection: { sealed: 1 }, sort: { _id: 1 }, limit } as const
    const found = await call<SealedDocument[]>(({ entries, mails }) =>
      kind === 'entry' ? entries.find(filter, options).toArray() : mails.find(filter, options).toArray(),
    )
    return found.map(({ _id, sealed }) => ({ kind, name: _id, sealed }))
  },
  reseal: ({ kind, name, sealed: before }, sealed) =>
    call(async ({ entries, mails }) => {
      const filter = { _id: name, sealed: before }
      const change = { $set: { sealed, sealedBy: masterKeyIdOf(sealed) } }
      if (kind === 'entry') await entries.updateOne(filter, change)
      else await mails.updateOne(filter, change)
    }, WRITE),
})

type SealedDocument = { readonly _id: string; readonly sealed: Buffer }

const contentsIn = (call: VaultCall): Pick<Vault, 'contents' | 'restore'> => ({
  async *contents() {
    yield* readItems<VaultEntryDocument>(
      (filter, page) => call(({ entries }) => entries.find(filter, page).toArray()),
      entryItem,
    )
    yield* readItems<ReceiptDocument>(
      (filter, page) => call(({ receipts }) => receipts.find(filter, page).toArray()),
      receiptItem,
    )
    yield* readItems<MailDocument>((filter, page) => call(({ mails }) => mails.find(filter, page).toArray()), mailItem)
  },
  async restore(items) {
    for (const item of items) await call((vault) => restoreOne(vault, item), WRITE)
  },
})

type VaultPageOptions = { readonly sort: { readonly _id: 1 }; readonly limit: number }

async function* readItems<VaultDocument extends { readonly _id: string }>(
  find: (filter: Filter<VaultDocument>, page: VaultPageOptions) => Promise<VaultDocument[]>,
  itemOf: (document: VaultDocument) => VaultItem,
): AsyncIterable<VaultItem> {
  const read = (after: string) =>
    find({ _id: { $gt: after } } as Filter<VaultDocument>, { sort: { _id: 1 }, limit: PAGE })
  for await (const page of inPages('', PAGE, ({ _id }) => _id, read)) yield* page.map(itemOf)
}

const PAGE = 100

const entryItem = ({ _id, sealed, createdAt, expiresAt, confirmed }: VaultEntryDocument): VaultItem => ({
  kind: 'entry',
  digest: _id,
  sealed,
  createdAt,
  expiresAt,
  confirmed,
})

const receiptItem = ({ _id, token, sealed, forgottenAt }: ReceiptDocument): VaultItem => ({
  kind: 'receipt',
  digest: _id,
  token,
  sealed,
  forgottenAt,
})

const mailItem = ({ digest, kind, sealed, createdAt, dueAt, confirmed }: MailDocument): VaultItem => ({
  kind: 'mail',
  digest,
  mail: kind,
  sealed,
  createdAt,
  dueAt,
  confirmed,
})

async function restoreOne({ entries, receipts, mails }: Parameters<Parameters<VaultCall>[0]>[0], item: VaultItem) {
  const { digest } = item
  if (item.kind === 'entry') await insertIfAbsent(entries, entryOf(item, item.confirmed))
  else if (item.kind === 'receipt') await insertIfAbsent(receipts, receiptOf(digest, item))
  else await insertIfAbsent(mails, mailOf(digest, item.createdAt, { ...item, kind: item.mail }, item.confirmed))
}
