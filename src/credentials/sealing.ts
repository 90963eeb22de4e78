import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey, type MasterKey, type MasterKeys } from './master-keys.ts'

const NONCE = 12
const TAG = 16
const KEY_ID = 8

/**
 * AES-256-GCM: nonce, ciphertext, tag.
 * @param context what the ciphertext belongs to: it opens nowhere else
 */
export function encrypt(key: Buffer, plain: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** undefined where the key, the context or a bit is not the one it was made with. */
export function decrypt(key: Buffer, sealed: Buffer, context: string): Buffer | undefined {
  if (sealed.length < NONCE + TAG) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE)).setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(-TAG))
  const plain = decipher.update(sealed.subarray(NONCE, -TAG))
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
    const id = sealed.subarray(0, KEY_ID).toString('hex')
    const key = this.#keys.get(id)
    const plain = key && decrypt(key, sealed.subarray(KEY_ID), context)
    if (plain === undefined) {
      throw new SealedByAnotherKey(
        `The vault holds something sealed with the master key ${id}; set MASTER_KEY or MASTER_KEY_OLD to that key`,
      )
    }
    return plain
  }
}
