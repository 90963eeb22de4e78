import { logLineage } from '../../events/lineage.ts'
import type { KeyObject } from 'node:crypto'
import { CHECKPOINTS_STREAM, type CheckpointSigned } from '../../domain/installation/keys.ts'
import { InvalidEventPayload, decode } from '../../events/decode.ts'
import { verifyNote, parseCheckpoint, parseVerifierKey, formatVerifierKey, type TreeHead } from '../../evidence/note.ts'
import type { EventStore, PositionOrStart } from '../../stores/ports/event-store.ts'

/** A tree's head with the note that signs it. */
export type CheckpointNote = TreeHead & { readonly note: string }

/** The last that was signed, and the place of its event; in an epoch before this one, where the log was restored since. */
export type SignedCheckpoint = CheckpointNote & { readonly revision: bigint }

/** What was signed last is no note of this log's key: it was changed where it is stored. */
export class ForeignCheckpoint extends InvalidEventPayload {}

/**
 * The name of a log among others, and of who signs for it: it stays when the log moves to another address, and is another
 * one once the log was restored, since what was signed in the days that are lost is no beginning of what follows.
 * @throws StoreUnavailable
 */
export const logOriginOf = async (store: Pick<EventStore, 'identity' | 'read'>): Promise<string> =>
  `adamant/${await logLineage(store)}`

/** Signs the tree where anything has happened since the last time. */
export type Signer = {
  /**
   * @param ms waits no longer for the tree to come to the place
   * @param until the log's head unless told
   * @returns the newest that is signed; undefined where there is none, since the tree is too far behind
   */
  sign(ms: number, until?: PositionOrStart): Promise<SignedCheckpoint | undefined>
}

/** What is known of a log by its signatures. */
export class SignedCheckpoints {
  constructor(
    private readonly store: Pick<EventStore, 'identity' | 'read'>,
    private readonly key: KeyObject,
  ) {}

  /** The verifier key, for who is to check what is signed. @throws StoreUnavailable */
  async verifierKey(): Promise<string> {
    return formatVerifierKey(await logOriginOf(this.store), this.key)
  }

  /** What GET /log/checkpoint answers; undefined where nothing has been signed in this epoch. @throws ForeignCheckpoint, StoreUnavailable */
  async latestOfEpoch(): Promise<SignedCheckpoint | undefined> {
    const last = await this.latestOfAnyEpoch()
    return last?.origin === (await logOriginOf(this.store)) ? last : undefined
  }

  /** What was signed last, in whichever epoch. @throws ForeignCheckpoint, StoreUnavailable */
  async latestOfAnyEpoch(): Promise<SignedCheckpoint | undefined> {
    const [last] = await this.store.read(CHECKPOINTS_STREAM, { last: 1 })
    if (last === undefined) return undefined
    const note = decode<CheckpointSigned>(last).data.checkpoint
    return { ...this.verifyNote(note, last.revision), note, revision: last.revision }
  }

  /** What a note of the log says. @param revision of its event @throws ForeignCheckpoint */
  verifyNote(note: string, revision: bigint): TreeHead {
    try {
      const [origin = ''] = note.split('\n', 1)
      return parseCheckpoint(verifyNote(note, parseVerifierKey(formatVerifierKey(origin, this.key))))
    } catch (error) {
      throw new ForeignCheckpoint(`checkpoints@${revision} is not what this log's key has signed`, { cause: error })
    }
  }
}
