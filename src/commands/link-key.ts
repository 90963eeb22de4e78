import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { derive } from '../credentials/key-derivation.ts'
import { deriveKey, type MasterKey, type MasterKeys } from '../credentials/master-keys.ts'
import type { LinkKeySealed } from '../domain/link-key.ts'
import { FIRST_EPOCH } from '../domain/restoring.ts'
import { WrongRevision, type EventStore, type Revision } from '../stores/event-store.ts'
import { decode } from '../stores/schemas/decode.ts'
import { readEpoch } from './log-epoch.ts'
import type { Origin } from './origin.ts'
import { stamp } from './stamp.ts'

const STREAM = 'keys-link'
const ORIGIN: Origin = { actor: 'service', via: 'projection', correlation: 'link-key' }

/** The keys at hand are not those that this log's keys were sealed with. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
}

/**
 * The key that signs links: made once for all instances and kept in the log, sealed by the master key. After a
 * rotation of the master key it is sealed again, so that the old one can go and every link still opens. Each epoch of the
 * log signs with a key of its own: a link of days that were lost by a restore opens nothing.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function openLinkKey(store: EventStore, keys: MasterKeys, clock: () => number): Promise<Buffer> {
  for (;;) {
    const [last] = await store.read(STREAM, { last: 1 })
    const sealed = last && decode<LinkKeySealed>(last).data
    const key = sealed === undefined ? randomBytes(32) : unseal(sealed, keys)
    const isKept =
      sealed?.key === keys.current.id || (await keep(store, last?.revision ?? 'none', seal(key, keys.current), clock()))
    if (isKept) return keyOf(await readEpoch(store), key)
  }
}

const keyOf = (epoch: number, key: Buffer) => (epoch === FIRST_EPOCH ? key : derive(key, `links of epoch ${epoch}`))

/** Whether the keys open the log's link key, where there is one. @throws WrongMasterKey, StoreUnavailable */
export async function checkLinkKey(store: EventStore, keys: MasterKeys): Promise<void> {
  const [last] = await store.read(STREAM, { last: 1 })
  if (last !== undefined) unseal(decode<LinkKeySealed>(last).data, keys)
}

/** @returns false when another process was first */
async function keep(store: EventStore, expected: Revision, event: LinkKeySealed, now: number): Promise<boolean> {
  try {
    await store.append(STREAM, expected, [stamp(ORIGIN, now)(randomUUID(), event)])
    return true
  } catch (error) {
    if (error instanceof WrongRevision) return false
    throw error
  }
}

function seal(key: Buffer, master: MasterKey): LinkKeySealed {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(master, 'link-key'), iv)
  const sealed = Buffer.concat([iv, cipher.update(key), cipher.final(), cipher.getAuthTag()])
  return { type: 'LinkKeySealed', data: { key: master.id, sealed: sealed.toString('base64url') } }
}

function unseal({ key: id, sealed }: LinkKeySealed['data'], { current, old }: MasterKeys): Buffer {
  const master = [current, old].find((candidate) => candidate?.id === id)
  if (master === undefined) {
    throw new WrongMasterKey(
      `This installation was sealed with the master key ${id}, and MASTER_KEY is ${current.id}: set MASTER_KEY to the ` +
        'key it was made with, or to a new one with the former in MASTER_KEY_OLD',
    )
  }
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(master, 'link-key'), bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
}
