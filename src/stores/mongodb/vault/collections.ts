import type { Collection } from 'mongodb'
import type { MailName } from '../../../domain/secret/secret.ts'
import type { MongoDatabase } from '../connection.ts'
import { isUnsupportedByServer } from '../failure.ts'
import { indexedCalls, type CollectionCall } from '../indexed-calls.ts'
import type { CheckpointDocument } from '../position-documents.ts'

/** `_id`: the digest. Times are milliseconds since 1970; `goneAt` is for the server, which takes dates only. */
export type VaultEntryDocument = {
  readonly _id: string
  readonly sealed: Buffer
  /** Id of the master key, in hex: the first 8 bytes of what it sealed. */
  readonly sealedBy: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly confirmed: boolean
  readonly goneAt: Date
}

/** `_id`: the digest. */
export type ReceiptDocument = {
  readonly _id: string
  readonly token: string
  readonly sealed: Buffer
  readonly forgottenAt: number
  readonly goneAt: Date
}

/** `_id`: digest/kind. Who has claimed it stands in claims. */
export type MailDocument = {
  readonly _id: string
  readonly digest: string
  readonly kind: MailName
  readonly sealed: Buffer
  readonly sealedBy: string
  readonly createdAt: number
  readonly dueAt: number | null
  readonly confirmed: boolean
}

/** `_id`: mail/number. The one of the highest number holds the mail; inserting the next takes it, or keeps it. */
export type MailClaimDocument = {
  readonly _id: string
  readonly mail: string
  readonly number: number
  /** '' where the mail was given back. */
  readonly claimant: string
  readonly attempts: number
  /** Written by those who wait, to know that the server takes writes. */
  readonly doubted?: string
}

export type VaultCheckpointDocument = { readonly _id: 'followed'; readonly checkpoint: CheckpointDocument }

export type VaultCollections = {
  readonly entries: Collection<VaultEntryDocument>
  readonly receipts: Collection<ReceiptDocument>
  readonly mails: Collection<MailDocument>
  readonly claims: Collection<MailClaimDocument>
  readonly followed: Collection<VaultCheckpointDocument>
}

const vaultCollections = ({ db }: MongoDatabase): VaultCollections => ({
  entries: db.collection('vault_entries'),
  receipts: db.collection('vault_receipts'),
  mails: db.collection('vault_mails'),
  claims: db.collection('vault_claims'),
  followed: db.collection('vault_followed'),
})

/** Milliseconds after its time at which the server itself deletes what no sweeper has: none of them runs. */
const SERVER_DELETION_DELAY_MS = 86_400_000

export const serverDeletionTimeOf = (time: number) => new Date(time + SERVER_DELETION_DELAY_MS)

/**
 * Repeating it changes nothing. One at a time: FerretDB 1.24 breaks the connection where several are asked for that it
 * has already. The sweeper is what expires; a server that can delete by time is a net below it.
 */
const vaultIndexes = ({ entries, receipts, mails, claims }: VaultCollections) => [
  () => entries.createIndex({ expiresAt: 1 }),
  () => entries.createIndex({ confirmed: 1, createdAt: 1 }),
  () => receipts.createIndex({ forgottenAt: 1 }),
  () => mails.createIndex({ dueAt: 1 }),
  () => mails.createIndex({ confirmed: 1, createdAt: 1 }),
  () => mails.createIndex({ digest: 1 }),
  () => claims.createIndex({ mail: 1, number: 1 }),
  () => createTtlIndex(entries),
  () => createTtlIndex(receipts),
]

async function createTtlIndex(collection: VaultCollections['entries'] | VaultCollections['receipts']): Promise<void> {
  try {
    await collection.createIndex({ goneAt: 1 }, { expireAfterSeconds: 0 })
  } catch (error) {
    if (!isUnsupportedByServer(error)) throw error
  }
}

export type VaultCall = CollectionCall<VaultCollections>

export function vaultCalls(mongo: MongoDatabase): VaultCall {
  const collections = vaultCollections(mongo)
  return indexedCalls(mongo, collections, vaultIndexes(collections))
}
