import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { derive } from '../../credentials/digests.ts'
import { deriveKey, type MasterKey, type MasterKeys } from '../../credentials/master-keys.ts'
import { latestEventDecider } from '../../domain/decider.ts'
import { epochOfLastRestore, FIRST_EPOCH, RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { LINK_KEY_STREAM, type LinkKeySealed } from '../../domain/installation/keys.ts'
import { decode } from '../../events/decode.ts'
import { eventTimeOf, type Origin } from '../../events/event-metadata.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import { handle, type CommandContext } from '../core/handle.ts'

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

type SealedKeyEvent = { readonly type: string; readonly data: SealedKey }

/** Where a key is kept and how it is sealed. */
export type SealedKeyDefinition<Event extends SealedKeyEvent> = {
  readonly stream: string
  readonly type: Event['type']
  /** What the key that seals it is derived for. */
  readonly purpose: string
  /** Whose events they are. */
  readonly origin: Origin
}

/** A key, and its last event's payload; none where the log is closed and has none: the key ends with this process. */
export type UnsealedKey<Event extends SealedKeyEvent> = {
  readonly root: Buffer
  readonly payload: Event['data'] | undefined
  /** Of its last event; -1 where there is none. */
  readonly revision: bigint
}

/**
 * A random key that is made once for all instances and kept in the log, sealed by the master key. After a rotation of the
 * master key it is sealed again, so that the old one can go.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function loadOrCreateSealedKey<Event extends SealedKeyEvent>(
  context: CommandContext,
  keys: MasterKeys,
  { stream, type, purpose, origin }: SealedKeyDefinition<Event>,
): Promise<UnsealedKey<Event>> {
  const { store } = context
  // A log that is only read is used with what it has.
  const isClosed = (await store.closedReason()) !== undefined
  const made = randomBytes(32)
  const rootOf = (kept: Event['data'] | undefined) => (kept === undefined ? made : unsealKey(kept, keys, purpose))
  const decide = (kept: Event['data'] | undefined): Event[] => {
    const root = rootOf(kept)
    if (isClosed || kept?.key === keys.current.id) return []
    return [{ type, data: { ...kept, ...sealKey(root, keys.current, purpose) } } as Event]
  }
  const { state, revision } = await handle(context, { stream, origin }, latestEventDecider<Event>(type), decide)
  return { root: rootOf(state), payload: state, revision: revision === 'none' ? -1n : revision }
}

function sealKey(key: Buffer, master: MasterKey, purpose: string): SealedKey {
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

const LINK_KEY: SealedKeyDefinition<LinkKeySealed> = {
  stream: LINK_KEY_STREAM,
  type: 'LinkKeySealed',
  purpose: 'link-key',
  origin: { actor: 'service', via: 'projection', correlation: 'link-key' },
}

/** The key that signs links now. `since`: when it took another one's place (ms since 1970); 0 for the first there is. */
export type LinkKey = { readonly key: KeyObject; readonly since: number }

type LinkKeyEvent = Pick<StoredEvent, 'stream' | 'revision' | 'type' | 'data' | 'metadata'>

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
    private epoch: LogEpoch,
  ) {
    this.#current = this.#deriveCurrent()
  }

  /** @throws WrongMasterKey, StoreUnavailable */
  static async open(writing: CommandContext, keys: MasterKeys): Promise<LinkKeys> {
    const { root, payload, revision } = await loadOrCreateSealedKey(writing, keys, LINK_KEY)
    const [restored] = await writing.store.read(RESTORES_STREAM, { last: 1 })
    return new LinkKeys(keys, { root, since: payload?.since ?? 0, revision }, logEpochOf(restored))
  }

  get current(): LinkKey {
    return this.#current
  }

  /** Takes note of what another process did to the key; every other event is nothing here. */
  note(event: LinkKeyEvent): void {
    if (event.type === 'LogRestored' && event.stream === RESTORES_STREAM) this.epoch = logEpochOf(event)
    else if (event.type === 'LinkKeySealed' && event.revision > this.sealed.revision) this.#applySealedKey(event)
    else return
    this.#current = this.#deriveCurrent()
  }

  /** One that was sealed with a master key which is not at hand is for the next start, which says so. */
  #applySealedKey({ data, revision }: LinkKeyEvent): void {
    const { key, sealed, since } = data as LinkKeySealed['data']
    if (![this.keys.current.id, this.keys.old?.id].includes(key)) return
    this.sealed = { root: unsealKey({ key, sealed }, this.keys, LINK_KEY.purpose), revision, since: since ?? 0 }
  }

  #deriveCurrent(): LinkKey {
    const { root, since } = this.sealed
    const { number, at } = this.epoch
    if (number === FIRST_EPOCH) return { key: createSecretKey(root), since }
    return { key: createSecretKey(derive(root, `links of epoch ${number}`)), since: Math.max(since, at) }
  }
}

/** The log's epoch, and when it began, in milliseconds since 1970. */
type LogEpoch = { readonly number: number; readonly at: number }

const logEpochOf = (restored: LinkKeyEvent | undefined): LogEpoch => ({
  number: epochOfLastRestore(restored),
  at: eventTimeOf(restored),
})

/**
 * Puts another key in the place of the one that signs links: no link from before opens any more, in no process.
 * @throws StoreUnavailable
 */
export async function rotateLinkKey(context: CommandContext, keys: MasterKeys, origin: Origin): Promise<void> {
  const root = randomBytes(32)
  const target = { stream: LINK_KEY_STREAM, origin }
  await handle(context, target, latestEventDecider<LinkKeySealed>(LINK_KEY.type), (_kept, now): LinkKeySealed[] => [
    { type: 'LinkKeySealed', data: { ...sealKey(root, keys.current, LINK_KEY.purpose), since: now } },
  ])
}

/** Whether the keys open the log's link key, where there is one. @throws WrongMasterKey, StoreUnavailable */
export async function checkLinkKey(store: EventStore, keys: MasterKeys): Promise<void> {
  const [last] = await store.read(LINK_KEY_STREAM, { last: 1 })
  if (last !== undefined) unsealKey(decode<LinkKeySealed>(last).data, keys, LINK_KEY.purpose)
}
