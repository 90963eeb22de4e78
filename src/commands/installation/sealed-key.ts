import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey, type MasterKey, type MasterKeys } from '../../credentials/master-keys.ts'
import { newestOf } from '../../domain/decider.ts'
import type { Origin } from '../../events/origin.ts'
import { handle, type Writing } from '../core/handle.ts'

/** A key that the installation made itself, as events carry it. */
export type SealedKey = {
  /** The master key's id. */
  readonly key: string
  /** Nonce, AES-256-GCM ciphertext and tag, base64url. */
  readonly sealed: string
}

/** The keys at hand are not those that this log's keys were sealed with. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
}

type KeyEvent = { readonly type: string; readonly data: SealedKey }

/** Where a key is kept and how it is sealed. */
export type KeyKind<Event extends KeyEvent> = {
  readonly stream: string
  readonly type: Event['type']
  /** What the key that seals it is derived for. */
  readonly purpose: string
  /** Whose events they are. */
  readonly origin: Origin
}

/** A key, and its last event's payload; none where the log is closed and has none: the key ends with this process. */
export type OpenedKey<Event extends KeyEvent> = {
  readonly root: Buffer
  readonly kept: Event['data'] | undefined
  /** Of its last event; -1 where there is none. */
  readonly revision: bigint
}

/**
 * A random key that is made once for all instances and kept in the log, sealed by the master key. After a rotation of the
 * master key it is sealed again, so that the old one can go.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openSealedKey<Event extends KeyEvent>(
  writing: Writing,
  keys: MasterKeys,
  { stream, type, purpose, origin }: KeyKind<Event>,
): Promise<OpenedKey<Event>> {
  const { store } = writing
  // A log that is only read is used with what it has.
  const isClosed = (await store.closed()) !== undefined
  const made = randomBytes(32)
  const rootOf = (kept: Event['data'] | undefined) => (kept === undefined ? made : unsealKey(kept, keys, purpose))
  const decide = (kept: Event['data'] | undefined): Event[] => {
    const root = rootOf(kept)
    if (isClosed || kept?.key === keys.current.id) return []
    return [{ type, data: { ...kept, ...sealKey(root, keys.current, purpose) } } as Event]
  }
  const { state, revision } = await handle(writing, { stream, origin }, newestOf<Event>(type), decide)
  return { root: rootOf(state), kept: state, revision: revision === 'none' ? -1n : revision }
}

export function sealKey(key: Buffer, master: MasterKey, purpose: string): SealedKey {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(master, purpose), iv)
  const sealed = Buffer.concat([iv, cipher.update(key), cipher.final(), cipher.getAuthTag()])
  return { key: master.id, sealed: sealed.toString('base64url') }
}

/** @throws WrongMasterKey where neither of the keys has sealed it */
export function unsealKey({ key: id, sealed }: SealedKey, { current, old }: MasterKeys, purpose: string): Buffer {
  const master = [current, old].find((candidate) => candidate?.id === id)
  if (master === undefined) {
    throw new WrongMasterKey(
      `This installation was sealed with the master key ${id}, and MASTER_KEY is ${current.id}: set MASTER_KEY to the ` +
        'key it was made with, or to a new one with the former in MASTER_KEY_OLD',
    )
  }
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(master, purpose), bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
}
