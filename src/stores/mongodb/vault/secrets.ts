import { linkName, MAX_RECIPIENTS } from '../../../domain/secret/secret.ts'
import { WRITE } from '../connection.ts'
import { isDuplicate } from '../failure.ts'
import { insertIfAbsent } from '../linearizable-reads.ts'
import type { Checkpoint } from '../../ports/read-store.ts'
import type { EndedVaultSecret, NewMail, Receipt, Vault, VaultEntry } from '../../ports/vault.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../position-documents.ts'
import {
  serverDeletionTimeOf,
  type VaultEntryDocument,
  type ReceiptDocument,
  type MailDocument,
  type VaultCall,
} from './collections.ts'

type VaultSecretOperations = Pick<Vault, 'put' | 'readSecret' | 'receipts' | 'end' | 'checkpoint'>

export const secretsIn = (call: VaultCall): VaultSecretOperations => ({
  put: (entry, mails) => put(call, entry, mails),
  readSecret: (digest) => call(async ({ entries }) => (await entries.findOne({ _id: digest }))?.sealed),
  async receipts(keys) {
    const digests = keys.map(({ digest }) => digest)
    const found = await call(({ receipts }) => receipts.find({ _id: { $in: digests } }).toArray())
    return new Map(found.map(({ _id, token, sealed, forgottenAt }) => [_id, { token, sealed, forgottenAt }]))
  },
  end: (ended, checkpoint) => endSecrets(call, ended, checkpoint),
  checkpoint: () =>
    call(async ({ checkpoints }) => {
      const found = await checkpoints.findOne({ _id: 'followed' })
      return found === null ? undefined : decodeCheckpoint(found.checkpoint)
    }),
})

/**
 * Inserts the entry first, because its digest is unique. After a failure, the rest is deleted immediately or, being
 * unconfirmed, by the sweeper.
 */
async function put(call: VaultCall, entry: VaultEntry, mails: readonly NewMail[]): Promise<void> {
  const { digest, createdAt, receipt } = entry
  const isNew = await call(({ entries }) => insertIfAbsent(entries, entryOf(entry)), WRITE)
  if (!isNew) throw new Error(`the vault already has an entry ${digest}`)
  try {
    if (receipt !== null) await call(({ receipts }) => receipts.insertOne(receiptOf(digest, receipt)), WRITE)
    if (mails.length > 0) {
      await call(
        ({ mails: mailCollection }) => mailCollection.insertMany(mails.map((mail) => mailOf(digest, createdAt, mail))),
        WRITE,
      )
    }
  } catch (error) {
    void undoPut(call, digest)
    throw error
  }
}

/** Not awaited by the caller. What cannot be deleted while the server is unavailable is deleted by the sweeper. */
const undoPut = (call: VaultCall, digest: string): Promise<void> =>
  call(async ({ entries, receipts, mails }) => {
    await mails.deleteMany({ digest })
    await receipts.deleteOne({ _id: digest })
    await entries.deleteOne({ _id: digest })
    // The caller reports the original error.
  }, WRITE).catch(() => undefined)

export const masterKeyIdOf = (sealed: Buffer) => sealed.subarray(0, 8).toString('hex')

export const entryOf = (
  { digest, sealed, createdAt, expiresAt }: Omit<VaultEntry, 'receipt'>,
  confirmed = false,
): VaultEntryDocument => ({
  _id: digest,
  sealed,
  sealedBy: masterKeyIdOf(sealed),
  createdAt,
  expiresAt,
  confirmed,
  goneAt: serverDeletionTimeOf(expiresAt),
})

export const receiptOf = (digest: string, { token, sealed, forgottenAt }: Receipt): ReceiptDocument => ({
  _id: digest,
  token,
  sealed,
  forgottenAt,
  goneAt: serverDeletionTimeOf(forgottenAt),
})

export const mailOf = (
  digest: string,
  createdAt: number,
  { kind, sealed, dueAt }: NewMail,
  confirmed = false,
): MailDocument => ({
  _id: `${digest}/${kind}`,
  digest,
  kind,
  sealed,
  sealedBy: masterKeyIdOf(sealed),
  createdAt,
  dueAt,
  confirmed,
})

/** Full names instead of a pattern, so that the index on `_id` is used. */
const LINKS = Array.from({ length: MAX_RECIPIENTS }, (_, number) => linkName(number))

/** Writes the checkpoint last: after a crash, the same secrets are ended again. */
async function endSecrets(
  call: VaultCall,
  ended: readonly EndedVaultSecret[],
  checkpoint: Checkpoint | undefined,
): Promise<void> {
  if (ended.length > 0) {
    const withoutNotice = ended.filter(({ noticeAt }) => noticeAt === undefined)
    const links = ended.flatMap(({ digest }) => LINKS.map((name) => `${digest}/${name}`))
    const deletedMailIds = [...links, ...withoutNotice.map(({ digest }) => `${digest}/notice`)]
    await call(({ entries }) => entries.deleteMany({ _id: { $in: ended.map(({ digest }) => digest) } }), WRITE)
    await call(({ mails }) => mails.deleteMany({ _id: { $in: deletedMailIds } }), WRITE)
    await call(({ claims }) => claims.deleteMany({ mail: { $in: deletedMailIds } }), WRITE)
    for (const { digest, noticeAt } of ended) {
      if (noticeAt === undefined) continue
      const due = { $set: { dueAt: noticeAt } }
      await call(({ mails }) => mails.updateOne({ _id: `${digest}/notice`, dueAt: null }, due), WRITE)
    }
  }
  if (checkpoint === undefined) return
  const saved = { checkpoint: encodeCheckpoint(checkpoint) }
  await call(async ({ checkpoints }) => {
    try {
      await checkpoints.replaceOne({ _id: 'followed' }, saved, { upsert: true })
    } catch (error) {
      // Another process has just inserted the first checkpoint.
      if (!isDuplicate(error)) throw error
      await checkpoints.replaceOne({ _id: 'followed' }, saved)
    }
  }, WRITE)
}
