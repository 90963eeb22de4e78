import type { KeyObject } from 'node:crypto'
import { lastSigned } from '../../commands/evidence/signed-checkpoints.ts'
import { BrokenEvent } from '../../events/decode.ts'
import { openNote, readCheckpoint, readVerifierKey, verifierKeyText, type TreeHead } from '../../evidence/note.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { lineOf } from '../engine/checkpoint.ts'

/** A tree's head with the note that signs it. */
export type Checkpoint = TreeHead & { readonly note: string }

/** The last that was signed, and the place of its event; in an epoch before this one, where the log was restored since. */
export type Signed = Checkpoint & { readonly revision: bigint }

/** What was signed last is no note of this log's key: it was changed where it is stored. */
export class ForeignCheckpoint extends BrokenEvent {}

/**
 * The name of a log among others, and of who signs for it: it stays when the log moves to another address, and is another
 * one once the log was restored, since what was signed in the days that are lost is no beginning of what follows.
 * @throws StoreUnavailable
 */
export const originOf = async (store: Pick<EventStore, 'identity' | 'read'>): Promise<string> =>
  `adamant/${await lineOf(store)}`

/** What is known of a log by its signatures. */
export class Checkpoints {
  constructor(
    private readonly store: Pick<EventStore, 'identity' | 'read'>,
    private readonly key: KeyObject,
  ) {}

  /** The verifier key, for who is to check what is signed. @throws StoreUnavailable */
  async keyText(): Promise<string> {
    return verifierKeyText(await originOf(this.store), this.key)
  }

  /** What GET /log/checkpoint answers; undefined where nothing has been signed in this epoch. @throws ForeignCheckpoint, StoreUnavailable */
  async latest(): Promise<Signed | undefined> {
    const last = await this.last()
    return last?.origin === (await originOf(this.store)) ? last : undefined
  }

  /** What was signed last, in whichever epoch. @throws ForeignCheckpoint, StoreUnavailable */
  async last(): Promise<Signed | undefined> {
    const found = await lastSigned(this.store)
    if (found === undefined) return undefined
    return { ...this.open(found.note, found.revision), ...found }
  }

  /** What a note of the log says. @param revision of its event @throws ForeignCheckpoint */
  open(note: string, revision: bigint): TreeHead {
    try {
      const [origin = ''] = note.split('\n', 1)
      return readCheckpoint(openNote(note, readVerifierKey(verifierKeyText(origin, this.key))))
    } catch (error) {
      throw new ForeignCheckpoint(`checkpoints@${revision} is not what this log's key has signed`, { cause: error })
    }
  }
}
