import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { derive } from './digests.ts'
import { deriveKey, type MasterKey, type MasterKeys } from './master-keys.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_BYTES = 8

/**
 * AES-256-GCM. The result is nonce, ciphertext and tag.
 * @param context additional authenticated data: the ciphertext opens only with the same context
 */
export function encrypt(key: Buffer, plain: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Returns undefined if the key or the context is a different one or the ciphertext is damaged. */
export function decrypt(key: Buffer, sealed: Buffer, context: string): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([plain, decipher.final()])
  } catch {
    return undefined
  }
}

/** The value was sealed with a master key that is neither of the configured ones. */
export class SealedByAnotherKey extends Error {
  override readonly name = 'SealedByAnotherKey'
}

/**
 * Seals values with a key derived from the master key. The key's id (8 bytes) comes first, so that the right key is
 * found after a rotation.
 */
export class MasterSeal {
  readonly #current: { readonly id: string; readonly key: Buffer }
  readonly #keys: ReadonlyMap<string, Buffer>

  /** @param purpose distinguishes the derived key from others of the same master key */
  constructor({ current, old }: MasterKeys, purpose: string) {
    const masterKeys = [current, old].filter((key): key is MasterKey => key !== undefined)
    this.#keys = new Map(masterKeys.map((key) => [key.id, deriveKey(key, purpose)]))
    this.#current = { id: current.id, key: deriveKey(current, purpose) }
  }

  seal(plain: Buffer, context: string): Buffer {
    return Buffer.concat([Buffer.from(this.#current.id, 'hex'), encrypt(this.#current.key, plain, context)])
  }

  /** @throws SealedByAnotherKey */
  open(sealed: Buffer, context: string): Buffer {
    const id = sealed.subarray(0, KEY_ID_BYTES).toString('hex')
    const key = this.#keys.get(id)
    const plain = key && decrypt(key, sealed.subarray(KEY_ID_BYTES), context)
    if (plain === undefined) {
      throw new SealedByAnotherKey(
        `The vault has a value that was sealed with the master key ${id}: set MASTER_KEY or MASTER_KEY_OLD to that key`,
      )
    }
    return plain
  }
}

/** What is needed to send a mail: the full address and, for mails with a link, the secret key. */
export type Addressee = { readonly to: string; readonly secretKey?: string }

/** Seals queued mails, because a mail with a link holds the secret key until it is sent. */
export class MailSeal {
  readonly #seal: MasterSeal

  constructor(keys: MasterKeys) {
    this.#seal = new MasterSeal(keys, 'mail')
  }

  /** @param mail the mail's id: the result opens for no other mail */
  seal(addressee: Addressee, mail: string): Buffer {
    return this.#seal.seal(Buffer.from(JSON.stringify(addressee)), mail)
  }

  /** @throws SealedByAnotherKey */
  open(sealed: Buffer, mail: string): Addressee {
    return JSON.parse(this.#seal.open(sealed, mail).toString()) as Addressee
  }
}

/**
 * Seals a metadata key with a key derived from the API token that shared the secret. The service alone can't open it.
 */
export const sealReceipt = (apiToken: string, metadataKey: string, digest: string): Buffer =>
  encrypt(receiptKey(apiToken), Buffer.from(metadataKey), digest)

/** Returns undefined for another token. */
export const openReceipt = (apiToken: string, sealed: Buffer, digest: string): string | undefined =>
  decrypt(receiptKey(apiToken), sealed, digest)?.toString()

const receiptKey = (apiToken: string) => derive(apiToken, 'receipt')
