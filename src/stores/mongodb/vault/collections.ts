import type { Collection } from 'mongodb'
import type { MailName } from '../../../domain/secret/secret.ts'
import type { Mongo } from '../connection.ts'
import { isUnknownToServer } from '../failure.ts'
import { indexedCalls, type CallOn } from '../indexed-calls.ts'
import type { Reached } from '../place.ts'

/** `_id`: the digest. Times are milliseconds since 1970; `goneAt` is for the server, which takes dates only. */
export type Entry = {
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
export type HeldReceipt = {
  readonly _id: string
  readonly token: string
  readonly sealed: Buffer
  readonly forgottenAt: number
  readonly goneAt: Date
}

/** `_id`: digest/kind. Who has claimed it stands in claims. */
export type Mail = {
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
export type Claim = {
  readonly _id: string
  readonly mail: string
  readonly number: number
  /** '' where the mail was given back. */
  readonly claimant: string
  readonly attempts: number
  /** Written by those who wait, to know that the server takes writes. */
  readonly doubted?: string
}

export type Followed = { readonly _id: 'followed'; readonly checkpoint: Reached }

export type VaultCollections = {
  readonly entries: Collection<Entry>
  readonly receipts: Collection<HeldReceipt>
  readonly mails: Collection<Mail>
  readonly claims: Collection<Claim>
  readonly followed: Collection<Followed>
}

const vaultCollections = ({ db }: Mongo): VaultCollections => ({
  entries: db.collection('vault_entries'),
  receipts: db.collection('vault_receipts'),
  mails: db.collection('vault_mails'),
  claims: db.collection('vault_claims'),
  followed: db.collection('vault_followed'),
})

/** Milliseconds after its time at which the server itself deletes what no sweeper has: none of them runs. */
const NET = 86_400_000

export const goneAfter = (time: number) => new Date(time + NET)

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
  () => deletedByServer(entries),
  () => deletedByServer(receipts),
]

async function deletedByServer(collection: VaultCollections['entries'] | VaultCollections['receipts']): Promise<void> {
  try {
    await collection.createIndex({ goneAt: 1 }, { expireAfterSeconds: 0 })
  } catch (error) {
    if (!isUnknownToServer(error)) throw error
  }
}

export type VaultCall = CallOn<VaultCollections>

export function vaultCalls(mongo: Mongo): VaultCall {
  const collections = vaultCollections(mongo)
  return indexedCalls(mongo, collections, vaultIndexes(collections))
}
