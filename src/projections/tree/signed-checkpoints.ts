import { logLineage } from '../../events/lineage.ts'
import type { KeyObject } from 'node:crypto'
import { CHECKPOINTS_STREAM, type CheckpointSigned } from '../../domain/installation/keys.ts'
import { InvalidEventPayload, decode } from '../../events/decode.ts'
import { verifyNote, parseCheckpoint, parseVerifierKey, formatVerifierKey, type TreeHead } from '../../evidence/note.ts'
import type { EventStore, PositionOrStart } from '../../stores/ports/event-store.ts'

/** A tree head with its signed note. */
type CheckpointNote = TreeHead & { readonly note: string }

/** The latest signed checkpoint, with its event's revision. It may be of an earlier epoch, from before a restore. */
export type SignedCheckpoint = CheckpointNote & { readonly revision: bigint }

/** The latest checkpoint is not a note signed by this log's key: it was altered in the store. */
export class ForeignCheckpoint extends InvalidEventPayload {}

/**
 * The log's name in signed notes. It stays when the log moves to another address. After a restore it changes, since
 * checkpoints signed in the lost part are no prefix of the new log.
 * @throws StoreUnavailable
 */
export const logOriginOf = async (store: Pick<EventStore, 'identity' | 'readStream'>): Promise<string> =>
  `adamant/${await logLineage(store)}`

/** Signs the tree if it has grown since the last checkpoint. */
export type Signer = {
  /**
   * @param ms maximum wait for the tree to reach the position
   * @param until default: the head of the log
   * @returns the latest signed checkpoint; undefined if there is none because the tree lags too much
   */
  sign(ms: number, until?: PositionOrStart): Promise<SignedCheckpoint | undefined>
}

/** The checkpoints signed for a log. */
export class SignedCheckpoints {
  constructor(
    private readonly store: Pick<EventStore, 'identity' | 'readStream'>,
    private readonly key: KeyObject,
  ) {}

  /** The key for verifying signatures. @throws StoreUnavailable */
  async verifierKey(): Promise<string> {
    return formatVerifierKey(await logOriginOf(this.store), this.key)
  }

  /**
   * The checkpoint of GET /log/checkpoint; undefined if none was signed in this epoch. @throws ForeignCheckpoint,
   * StoreUnavailable
   */
  async latestOfEpoch(): Promise<SignedCheckpoint | undefined> {
    const last = await this.latestOfAnyEpoch()
    return last?.origin === (await logOriginOf(this.store)) ? last : undefined
  }

  /** The latest checkpoint of any epoch. @throws ForeignCheckpoint, StoreUnavailable */
  async latestOfAnyEpoch(): Promise<SignedCheckpoint | undefined> {
    const [last] = await this.store.readStream(CHECKPOINTS_STREAM, { last: 1 })
    if (last === undefined) return undefined
    const note = decode<CheckpointSigned>(last).data.checkpoint
    return { ...this.verifyNote(note, last.revision), note, revision: last.revision }
  }

  /** Verifies and parses a note. @param revision of its event @throws ForeignCheckpoint */
  verifyNote(note: string, revision: bigint): TreeHead {
    try {
      const [origin = ''] = note.split('\n', 1)
      return parseCheckpoint(verifyNote(note, parseVerifierKey(formatVerifierKey(origin, this.key))))
    } catch (error) {
      throw new ForeignCheckpoint(`checkpoints@${revision} was not signed by this log's key`, { cause: error })
    }
  }
}
