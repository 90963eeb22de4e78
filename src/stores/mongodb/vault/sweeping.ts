import type { Sealed, Vault } from '../../ports/vault.ts'
import { WRITE } from '../connection.ts'
import type { VaultCall } from './collections.ts'
import { sealerOf } from './secrets.ts'

type SealedNow = { readonly _id: string; readonly sealed: Buffer }
type Sweeping = Pick<Vault, 'counts' | 'expired' | 'unconfirmed' | 'confirm' | 'forget' | 'sealedOtherwise' | 'reseal'>

export const sweepingIn = (call: VaultCall): Sweeping => ({
  // The servers keep these numbers, so that nothing is counted.
  async counts() {
    const secrets = await call(({ entries }) => entries.estimatedDocumentCount())
    const receipts = await call((vault) => vault.receipts.estimatedDocumentCount())
    const mails = await call((vault) => vault.mails.estimatedDocumentCount())
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
  forget: (now) =>
    call(async ({ receipts }) => void (await receipts.deleteMany({ forgottenAt: { $lte: now } })), WRITE),
  async sealedOtherwise(kind, key, behind, limit): Promise<Sealed[]> {
    const filter = { sealedBy: { $ne: key }, _id: { $gt: behind } }
    const options = { projection: { sealed: 1 }, sort: { _id: 1 }, limit } as const
    const found = await call<SealedNow[]>(({ entries, mails }) =>
      kind === 'entry' ? entries.find(filter, options).toArray() : mails.find(filter, options).toArray(),
    )
    return found.map(({ _id, sealed }) => ({ kind, name: _id, sealed }))
  },
  reseal: ({ kind, name, sealed: before }, sealed) =>
    call(async ({ entries, mails }) => {
      const filter = { _id: name, sealed: before }
      const change = { $set: { sealed, sealedBy: sealerOf(sealed) } }
      if (kind === 'entry') await entries.updateOne(filter, change)
      else await mails.updateOne(filter, change)
    }, WRITE),
})
