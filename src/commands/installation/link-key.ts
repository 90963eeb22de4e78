import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { derive } from '../../credentials/key-derivation.ts'
import { deriveKey, type MasterKey, type MasterKeys } from '../../credentials/master-keys.ts'
import type { LinkKeySealed } from '../../domain/installation/link-key.ts'
import { epochOf, FIRST_EPOCH, RESTORES_STREAM } from '../../domain/installation/restoring.ts'
import { WrongRevision, type EventStore, type Revision, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import type { Writing } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'
import { stamp } from '../core/stamp.ts'

export const LINK_KEY_STREAM = 'keys-link'
const ORIGIN: Origin = { actor: 'service', via: 'projection', correlation: 'link-key' }

/** The keys at hand are not those that this log's keys were sealed with. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
}

/** The key that signs links now. `since`: when it took another one's place (ms since 1970); 0 for the first there is. */
export type LinkKey = { readonly key: Buffer; readonly since: number }

type Noted = Pick<StoredEvent, 'stream' | 'revision' | 'type' | 'data' | 'metadata'>

/**
 * The key that signs links: made once for all instances and kept in the log, sealed by the master key. After a
 * rotation of the master key it is sealed again, so that the old one can go and every link still opens; `adamant key
 * rotate links` puts another one in its place. Each epoch of the log signs with a key of its own: a link of days that
 * were lost by a restore opens nothing.
 */
export class LinkKeys {
  #current: LinkKey

  private constructor(
    private readonly keys: MasterKeys,
    private sealed: { readonly root: Buffer; readonly revision: bigint; readonly since: number },
    private epoch: Epoch,
  ) {
    this.#current = this.#derived()
  }

  /** @throws WrongMasterKey, StoreUnavailable */
  static async open(store: EventStore, keys: MasterKeys, clock: () => number): Promise<LinkKeys> {
    for (;;) {
      const [last] = await store.read(LINK_KEY_STREAM, { last: 1 })
      const sealed = last && decode<LinkKeySealed>(last).data
      const root = sealed === undefined ? randomBytes(32) : unseal(sealed, keys)
      const since = sealed?.since ?? 0
      const known = last?.revision ?? -1n
      const isKept = sealed?.key === keys.current.id
      // A log that is only read signs with what it has: links of this process, where that is nothing, end with it.
      const isClosed = !isKept && (await store.closed()) !== undefined
      if (
        !isKept &&
        !isClosed &&
        !(await keep(store, last?.revision ?? 'none', seal(root, keys.current, since), clock()))
      )
        continue
      const [restored] = await store.read(RESTORES_STREAM, { last: 1 })
      return new LinkKeys(
        keys,
        { root, since, revision: isKept || isClosed ? known : known + 1n },
        epochAfter(restored),
      )
    }
  }

  get current(): LinkKey {
    return this.#current
  }

  /** Takes note of what another process did to the key; every other event is nothing here. */
  note(event: Noted): void {
    if (event.type === 'LogRestored' && event.stream === RESTORES_STREAM) this.epoch = epochAfter(event)
    else if (event.type === 'LinkKeySealed' && event.revision > this.sealed.revision) this.#take(event)
    else return
    this.#current = this.#derived()
  }

  /** One that was sealed with a master key which is not at hand is for the next start, which says so. */
  #take({ data, revision }: Noted): void {
    const { key, sealed, since } = data as LinkKeySealed['data']
    if (![this.keys.current.id, this.keys.old?.id].includes(key)) return
    this.sealed = { root: unseal({ key, sealed }, this.keys), revision, since: since ?? 0 }
  }

  #derived(): LinkKey {
    const { root, since } = this.sealed
    const { number, at } = this.epoch
    if (number === FIRST_EPOCH) return { key: root, since }
    return { key: derive(root, `links of epoch ${number}`), since: Math.max(since, at) }
  }
}

/** The log's epoch, and when it began, in milliseconds since 1970. */
type Epoch = { readonly number: number; readonly at: number }

const epochAfter = (restored: Noted | undefined): Epoch => ({
  number: epochOf(restored),
  at: Date.parse(restored?.metadata['at'] ?? '') || 0,
})

/**
 * Puts another key in the place of the one that signs links: no link from before opens any more, in no process.
 * @throws StoreUnavailable
 */
export async function rotateLinkKey(
  { store, clock }: Pick<Writing, 'store' | 'clock'>,
  keys: MasterKeys,
  origin: Origin,
): Promise<void> {
  const root = randomBytes(32)
  for (;;) {
    const [last] = await store.read(LINK_KEY_STREAM, { last: 1 })
    const now = clock()
    if (await keep(store, last?.revision ?? 'none', seal(root, keys.current, now), now, origin)) return
  }
}

/** Whether the keys open the log's link key, where there is one. @throws WrongMasterKey, StoreUnavailable */
export async function checkLinkKey(store: EventStore, keys: MasterKeys): Promise<void> {
  const [last] = await store.read(LINK_KEY_STREAM, { last: 1 })
  if (last !== undefined) unseal(decode<LinkKeySealed>(last).data, keys)
}

/** @returns false when another process was first */
async function keep(
  store: EventStore,
  expected: Revision,
  event: LinkKeySealed,
  now: number,
  origin: Origin = ORIGIN,
): Promise<boolean> {
  try {
    await store.append(LINK_KEY_STREAM, expected, [stamp(origin, now)(randomUUID(), event)])
    return true
  } catch (error) {
    if (error instanceof WrongRevision) return false
    throw error
  }
}

function seal(key: Buffer, master: MasterKey, since: number): LinkKeySealed {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(master, 'link-key'), iv)
  const sealed = Buffer.concat([iv, cipher.update(key), cipher.final(), cipher.getAuthTag()])
  const data = { key: master.id, sealed: sealed.toString('base64url'), ...(since > 0 && { since }) }
  return { type: 'LinkKeySealed', data }
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
