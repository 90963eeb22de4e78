import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { derive } from '../../credentials/digests.ts'
import { deriveKey, type MasterKey, type MasterKeys } from '../../credentials/master-keys.ts'
import { latestEventFold } from '../../domain/fold.ts'
import { epochOfLastRestore, FIRST_EPOCH, RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { LINK_KEY_STREAM, type LinkKeySealed } from '../../domain/installation/keys.ts'
import { decode } from '../../events/decode.ts'
import { eventTimeOf, type Origin } from '../../events/event-metadata.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'

/** A key that the installation generated, as stored in events. */
type SealedKey = {
  /** The master key's id. */
  readonly key: string
  /** Nonce, AES-256-GCM ciphertext and tag, base64url. */
  readonly sealed: string
}

/** The configured master keys are not the ones that sealed this log's keys. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
}

type SealedKeyEvent = { readonly type: string; readonly data: SealedKey }

export type SealedKeyDefinition<Event extends SealedKeyEvent> = {
  readonly stream: string
  readonly type: Event['type']
  /** The purpose that the sealing key is derived for. */
  readonly purpose: string
  readonly origin: Origin
}

/**
 * A key with the payload of its latest event. `payload` is undefined if the log is closed and has no key: the key is
 * then lost when the process ends.
 */
type UnsealedKey<Event extends SealedKeyEvent> = {
  readonly root: Buffer
  readonly payload: Event['data'] | undefined
  /** The revision of the latest event; -1 if there is none. */
  readonly revision: bigint
}

/**
 * Loads a random key that is generated once for all instances and stored in the log, sealed with the master key. After
 * the master key is rotated, it is sealed again with the new one, so that the old one can be removed.
 * @throws WrongMasterKey, StoreUnavailable
 */
export async function loadOrCreateSealedKey<Event extends SealedKeyEvent>(
  context: CommandContext,
  keys: MasterKeys,
  { stream, type, purpose, origin }: SealedKeyDefinition<Event>,
): Promise<UnsealedKey<Event>> {
  const { store } = context
  // Nothing can be appended to a closed log, so its key is used as it is.
  const isClosed = (await store.closedReason()) !== undefined
  const newRoot = randomBytes(32)
  const rootOf = (payload: Event['data'] | undefined) =>
    payload === undefined ? newRoot : unsealKey(payload, keys, purpose)
  const decide = (payload: Event['data'] | undefined): Event[] => {
    const root = rootOf(payload)
    if (isClosed || payload?.key === keys.current.id) return []
    return [{ type, data: { ...payload, ...sealKey(root, keys.current, purpose) } } as Event]
  }
  const { state, revision } = await handle(context, { stream, origin }, latestEventFold<Event>(type), decide)
  return { root: rootOf(state), payload: state, revision: revision === 'none' ? -1n : revision }
}

function sealKey(key: Buffer, master: MasterKey, purpose: string): SealedKey {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(master, purpose), iv)
  const sealed = Buffer.concat([iv, cipher.update(key), cipher.final(), cipher.getAuthTag()])
  return { key: master.id, sealed: sealed.toString('base64url') }
}

/** @throws WrongMasterKey if it was sealed with neither of the keys */
export function unsealKey({ key: id, sealed }: SealedKey, { current, old }: MasterKeys, purpose: string): Buffer {
  const master = [current, old].find((candidate) => candidate?.id === id)
  if (master === undefined) {
    throw new WrongMasterKey(
      `This installation was sealed with the master key ${id}, but the key in MASTER_KEY or master.key is ${current.id}: put ` +
        'the former there or, to rotate it, keep the new key there and set MASTER_KEY_OLD to the former',
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

/**
 * The key that currently signs links. `since`: when it replaced another key (milliseconds since 1970); 0 for the first
 * key.
 */
export type LinkKey = { readonly key: KeyObject; readonly since: number }

type LinkKeyEvent = Pick<StoredEvent, 'stream' | 'revision' | 'type' | 'data' | 'metadata'>

/**
 * The key that signs links, generated once for all instances and stored in the log, sealed with the master key.
 * Rotating the master key seals it again and keeps all links valid; `adamant key rotate links` replaces it. Each log
 * epoch signs with a separate key, so links issued in days that a restore lost become invalid.
 */
export class LinkKeys {
  #current: LinkKey

  private constructor(
    private readonly keys: MasterKeys,
    private unsealedKey: { readonly root: Buffer; readonly revision: bigint; readonly since: number },
    private epoch: LogEpoch,
  ) {
    this.#current = this.#deriveCurrent()
  }

  /** @throws WrongMasterKey, StoreUnavailable */
  static async open(context: CommandContext, keys: MasterKeys): Promise<LinkKeys> {
    const { root, payload, revision } = await loadOrCreateSealedKey(context, keys, LINK_KEY)
    const [lastRestore] = await context.store.readStream(RESTORES_STREAM, { last: 1 })
    return new LinkKeys(keys, { root, since: payload?.since ?? 0, revision }, logEpochOf(lastRestore))
  }

  get current(): LinkKey {
    return this.#current
  }

  /** Applies changes that other processes made to the key. Ignores all other events. */
  note(event: LinkKeyEvent): void {
    if (event.type === 'LogRestored' && event.stream === RESTORES_STREAM) this.epoch = logEpochOf(event)
    else if (event.type === 'LinkKeySealed' && event.revision > this.unsealedKey.revision) this.#applySealedKey(event)
    else return
    this.#current = this.#deriveCurrent()
  }

  /** Ignores a key that was sealed with an unknown master key; the next start reports that. */
  #applySealedKey({ data, revision }: LinkKeyEvent): void {
    const { key, sealed, since } = data as LinkKeySealed['data']
    if (![this.keys.current.id, this.keys.old?.id].includes(key)) return
    this.unsealedKey = { root: unsealKey({ key, sealed }, this.keys, LINK_KEY.purpose), revision, since: since ?? 0 }
  }

  #deriveCurrent(): LinkKey {
    const { root, since } = this.unsealedKey
    const { number, at } = this.epoch
    if (number === FIRST_EPOCH) return { key: createSecretKey(root), since }
    return { key: createSecretKey(derive(root, `links of epoch ${number}`)), since: Math.max(since, at) }
  }
}

/** A log epoch and its start in milliseconds since 1970. */
type LogEpoch = { readonly number: number; readonly at: number }

const logEpochOf = (lastRestore: LinkKeyEvent | undefined): LogEpoch => ({
  number: epochOfLastRestore(lastRestore),
  at: eventTimeOf(lastRestore),
})

/**
 * Replaces the key that signs links. All existing links become invalid in all processes.
 * @throws StoreUnavailable
 */
export async function rotateLinkKey(context: CommandContext, keys: MasterKeys, origin: Origin): Promise<void> {
  const root = randomBytes(32)
  const target = { stream: LINK_KEY_STREAM, origin }
  await handle(context, target, latestEventFold<LinkKeySealed>(LINK_KEY.type), (_payload, now): LinkKeySealed[] => [
    { type: 'LinkKeySealed', data: { ...sealKey(root, keys.current, LINK_KEY.purpose), since: now } },
  ])
}

/**
 * Checks that the master keys can open the log's link key, if there is one. @throws WrongMasterKey, StoreUnavailable
 */
export async function checkLinkKey(store: EventStore, keys: MasterKeys): Promise<void> {
  const [last] = await store.readStream(LINK_KEY_STREAM, { last: 1 })
  if (last !== undefined) unsealKey(decode<LinkKeySealed>(last).data, keys, LINK_KEY.purpose)
}
