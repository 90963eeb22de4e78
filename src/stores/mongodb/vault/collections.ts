import type { Collection } from 'mongodb'
import type { MailName } from '../../../domain/secret/secret.ts'
import type { MongoDatabase } from '../connection.ts'
import { isUnsupportedByServer } from '../failure.ts'
import { indexedCalls, type CollectionCall } from '../indexed-calls.ts'
import type { CheckpointDocument } from '../position-documents.ts'

/** `_id`: the digest. Times are milliseconds since 1970; `goneAt` is a Date for the server's TTL index. */
export type VaultEntryDocument = {
  readonly _id: string
  readonly sealed: Buffer
  /** Id of the master key, in hex: the first 8 bytes of `sealed`. */
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

/** `_id`: digest/kind. Claims are in a separate collection. */
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

/** `_id`: mail/number. The highest number is the current claim; inserting the next one acquires or renews the claim. */
export type MailClaimDocument = {
  readonly _id: string
  readonly mail: string
  readonly number: number
  /** '' if the mail was released. */
  readonly claimant: string
  readonly attempts: number
  /** Written by waiting claimants to verify that the server accepts writes. */
  readonly doubted?: string
}

type VaultCheckpointDocument = { readonly _id: 'followed'; readonly checkpoint: CheckpointDocument }

type VaultCollections = {
  readonly entries: Collection<VaultEntryDocument>
  readonly receipts: Collection<ReceiptDocument>
  readonly mails: Collection<MailDocument>
  readonly claims: Collection<MailClaimDocument>
  readonly checkpoints: Collection<VaultCheckpointDocument>
}

const vaultCollections = ({ db }: MongoDatabase): VaultCollections => ({
  entries: db.collection('vault_entries'),
  receipts: db.collection('vault_receipts'),
  mails: db.collection('vault_mails'),
  claims: db.collection('vault_claims'),
  checkpoints: db.collection('vault_followed'),
})

/** Milliseconds after which the server itself deletes expired documents, in case no sweeper runs. */
const SERVER_DELETION_DELAY_MS = 86_400_000

export const serverDeletionTimeOf = (time: number) => new Date(time + SERVER_DELETION_DELAY_MS)

/**
 * Idempotent. One at a time, because FerretDB 1.24 drops the connection when several existing indexes are requested at
 * once. Expiry is the sweeper's job; the TTL index is a safety net on servers that support it.
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
