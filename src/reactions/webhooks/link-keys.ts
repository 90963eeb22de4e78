import { LinkKeys, type LinkKey } from '../../commands/installation/link-key.ts'
import type { Writing } from '../../commands/core/handle.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/** The key that signs the links in what is sent, for a process that answers no requests perhaps, and so has no other one's. */
export class SendingLinkKeys {
  #keys: LinkKeys | undefined

  constructor(
    private readonly writing: Writing,
    private readonly keys: MasterKeys,
  ) {}

  /** To be called before anything is sent: others may have made another key meanwhile. @throws WrongMasterKey, StoreUnavailable */
  async begin(): Promise<void> {
    this.#keys = await LinkKeys.open(this.writing, this.keys)
  }

  get current(): LinkKey {
    if (this.#keys === undefined) throw new Error('links are signed before a key was read')
    return this.#keys.current
  }

  note(event: StoredEvent): void {
    this.#keys?.note(event)
  }
}
