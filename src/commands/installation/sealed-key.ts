import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { deriveKey, type MasterKey, type MasterKeys } from '../../credentials/master-keys.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import { WrongRevision, type EventStore, type Revision } from '../../stores/ports/event-store.ts'
import { stamp } from '../core/stamp.ts'

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

/** A key and its last event's payload; none where it was made now. */
export type OpenedKey<Event extends KeyEvent> = {
  readonly root: Buffer
  readonly before: Event['data'] | undefined
  /** Of its last event; -1 where there is none: the log is closed, and the key ends with this process. */
  readonly revision: bigint
}

/**
 * A random key that is made once for all instances and kept in the log, sealed by the master key. After a rotation of the
 * master key it is sealed again, so that the old one can go.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openSealedKey<Event extends KeyEvent>(
  store: EventStore,
  keys: MasterKeys,
  kind: KeyKind<Event>,
  clock: () => number,
): Promise<OpenedKey<Event>> {
  for (;;) {
    const [last] = await store.read(kind.stream, { last: 1 })
    const before = last && decode<Event>(last).data
    const root = before === undefined ? randomBytes(32) : unsealKey(before, keys, kind.purpose)
    const known = last?.revision ?? -1n
    const isKept = before?.key === keys.current.id
    // A log that is only read is used with what it has.
    if (isKept || (await store.closed()) !== undefined) return { root, before, revision: known }
    const data = { ...before, ...sealKey(root, keys.current, kind.purpose) }
    const event = { type: kind.type, data }
    if (await keepKey(store, kind.stream, last?.revision ?? 'none', event, { now: clock(), origin: kind.origin }))
      return { root, before, revision: known + 1n }
  }
}

/** @returns false when another process was first */
export async function keepKey(
  store: EventStore,
  stream: string,
  expected: Revision,
  event: KeyEvent,
  { now, origin }: { readonly now: number; readonly origin: Origin },
): Promise<boolean> {
  try {
    await store.append(stream, expected, [stamp(origin, now)(randomUUID(), event)])
    return true
  } catch (error) {
    if (error instanceof WrongRevision) return false
    throw error
  }
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
