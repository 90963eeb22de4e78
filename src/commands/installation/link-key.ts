import { LINK_KEY_STREAM, type LinkKeySealed } from '../../domain/installation/keys.ts'
import { timeOf, type Origin } from '../../events/origin.ts'
import { newestOf } from '../../domain/decider.ts'
import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { derive } from '../../credentials/digests.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { epochOf, FIRST_EPOCH, RESTORES_STREAM } from '../../domain/installation/installation.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import { handle, type Writing } from '../core/handle.ts'
import { openSealedKey, sealKey, unsealKey, type KeyKind } from './sealed-key.ts'

const LINK_KEY: KeyKind<LinkKeySealed> = {
  stream: LINK_KEY_STREAM,
  type: 'LinkKeySealed',
  purpose: 'link-key',
  origin: { actor: 'service', via: 'projection', correlation: 'link-key' },
}

/** The key that signs links now. `since`: when it took another one's place (ms since 1970); 0 for the first there is. */
export type LinkKey = { readonly key: KeyObject; readonly since: number }

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
  static async open(writing: Writing, keys: MasterKeys): Promise<LinkKeys> {
    const { root, kept, revision } = await openSealedKey(writing, keys, LINK_KEY)
    const [restored] = await writing.store.read(RESTORES_STREAM, { last: 1 })
    return new LinkKeys(keys, { root, since: kept?.since ?? 0, revision }, epochAfter(restored))
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
    this.sealed = { root: unsealKey({ key, sealed }, this.keys, LINK_KEY.purpose), revision, since: since ?? 0 }
  }

  #derived(): LinkKey {
    const { root, since } = this.sealed
    const { number, at } = this.epoch
    if (number === FIRST_EPOCH) return { key: createSecretKey(root), since }
    return { key: createSecretKey(derive(root, `links of epoch ${number}`)), since: Math.max(since, at) }
  }
}

/** The log's epoch, and when it began, in milliseconds since 1970. */
type Epoch = { readonly number: number; readonly at: number }

const epochAfter = (restored: Noted | undefined): Epoch => ({
  number: epochOf(restored),
  at: timeOf(restored),
})

/**
 * Puts another key in the place of the one that signs links: no link from before opens any more, in no process.
 * @throws StoreUnavailable
 */
export async function rotateLinkKey(writing: Writing, keys: MasterKeys, origin: Origin): Promise<void> {
  const root = randomBytes(32)
  const wish = { stream: LINK_KEY_STREAM, origin }
  await handle(writing, wish, newestOf<LinkKeySealed>(LINK_KEY.type), (_kept, now): LinkKeySealed[] => [
    { type: 'LinkKeySealed', data: { ...sealKey(root, keys.current, LINK_KEY.purpose), since: now } },
  ])
}

/** Whether the keys open the log's link key, where there is one. @throws WrongMasterKey, StoreUnavailable */
export async function checkLinkKey(store: EventStore, keys: MasterKeys): Promise<void> {
  const [last] = await store.read(LINK_KEY_STREAM, { last: 1 })
  if (last !== undefined) unsealKey(decode<LinkKeySealed>(last).data, keys, LINK_KEY.purpose)
}
