import { derive } from './key-derivation.ts'
import { decrypt, encrypt } from './sealing.ts'

/** Seals a metadata key for whoever has the API token that it was shared with: the service itself can't open it. */
export const sealReceipt = (apiToken: string, metadataKey: string, digest: string): Buffer =>
  encrypt(receiptKey(apiToken), Buffer.from(metadataKey), digest)

/** undefined for another token's. */
export const openReceipt = (apiToken: string, sealed: Buffer, digest: string): string | undefined =>
  decrypt(receiptKey(apiToken), sealed, digest)?.toString()

const receiptKey = (apiToken: string) => derive(apiToken, 'receipt')
