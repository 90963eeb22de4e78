import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { derive } from './digests.ts'
import { deriveKey, type MasterKey, type MasterKeys } from './master-keys.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_BYTES = 8

/**
 * AES-256-GCM: nonce, ciphertext, tag.
 * @param context what the ciphertext belongs to: it opens nowhere else
 */
export function encrypt(key: Buffer, plain: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** undefined where the key, the context or a bit is not the one it was made with. */
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

/** What was sealed with neither of the master keys at hand. */
export class SealedByAnotherKey extends Error {
  override readonly name = 'SealedByAnotherKey'
}

/** Seals with the master key: the key's id (8 bytes) first, so that after a rotation the right one opens it. */
export class MasterSeal {
  readonly #current: { readonly id: string; readonly key: Buffer }
  readonly #keys: ReadonlyMap<string, Buffer>

  /** @param purpose separates this seal's key from every other one of the master key */
  constructor({ current, old }: MasterKeys, purpose: string) {
    const known = [current, old].filter((key): key is MasterKey => key !== undefined)
    this.#keys = new Map(known.map((key) => [key.id, deriveKey(key, purpose)]))
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
        `The vault holds something sealed with the master key ${id}; set MASTER_KEY or MASTER_KEY_OLD to that key`,
      )
    }
    return plain
  }
}

/** What must be known to write a mail: its whole address, and the secret's key where it carries the link. */
export type Addressee = { readonly to: string; readonly secretKey?: string }

/** Seals what waits in the mail queue with the master key: a link is there until its mail is sent. */
export class MailSeal {
  readonly #seal: MasterSeal

  constructor(keys: MasterKeys) {
    this.#seal = new MasterSeal(keys, 'mail')
  }

  /** @param mail the mail's id: the seal opens for no other one */
  seal(addressee: Addressee, mail: string): Buffer {
    return this.#seal.seal(Buffer.from(JSON.stringify(addressee)), mail)
  }

  /** @throws SealedByAnotherKey */
  open(sealed: Buffer, mail: string): Addressee {
    return JSON.parse(this.#seal.open(sealed, mail).toString()) as Addressee
  }
}

/** Seals a metadata key for whoever has the API token that it was shared with: the service itself can't open it. */
export const sealReceipt = (apiToken: string, metadataKey: string, digest: string): Buffer =>
  encrypt(receiptKey(apiToken), Buffer.from(metadataKey), digest)

/** undefined for another token's. */
export const openReceipt = (apiToken: string, sealed: Buffer, digest: string): string | undefined =>
  decrypt(receiptKey(apiToken), sealed, digest)?.toString()

const receiptKey = (apiToken: string) => derive(apiToken, 'receipt')
