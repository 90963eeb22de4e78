import { logLineage } from '../../events/lineage.ts'
import type { KeyObject } from 'node:crypto'
import type { Writing } from '../../commands/core/handle.ts'
import { keepSigned, lastSigned } from '../../commands/evidence/signed-checkpoints.ts'
import { BrokenEvent } from '../../events/decode.ts'
import {
  checkpointText,
  openNote,
  readCheckpoint,
  readVerifierKey,
  signNote,
  verifierKeyText,
  type TreeHead,
} from '../../evidence/note.ts'
import { IncompleteTree } from '../../evidence/tiles.ts'
import { isBeginning } from '../../evidence/verify-path.ts'
import type { EventStore, From } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import type { Progress } from '../engine/progress.ts'
import { TreeQueries } from './tree-queries.ts'

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
const originOf = async (store: Pick<EventStore, 'identity' | 'read'>): Promise<string> =>
  `adamant/${await logLineage(store)}`

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

/** The log is not what was signed of it: something of what it held was changed, removed, inserted or put elsewhere. */
export class LogRewritten extends BrokenEvent {}

/** What signing needs. */
export type Signing = Writing & {
  /** The read model of the tree. */
  readonly model: ReadModel
  readonly progress: Progress
  readonly checkpoints: Checkpoints
  readonly key: KeyObject
}

/** Races with other processes, and with a tree that is being written. */
const TRIES = 4
const AGAIN = 50

/** The event of a checkpoint is a leaf of the next: it alone is nothing that has happened. */
const OWN_EVENT = 1

/**
 * Signs roots of the tree, each as an extension of what was signed last: whoever holds an older one can be shown that
 * nothing of it was changed since.
 */
export class CheckpointSigner {
  constructor(private readonly signing: Signing) {}

  /**
   * Signs the tree as it is now where anything has happened since the last time.
   * @param until waits for the tree to come there: the log's head unless told
   * @param ms waits no longer
   * @returns the newest that is signed; undefined where there is none, since the tree is too far behind
   * @throws LogRewritten, ForeignCheckpoint, LogClosed, StoreUnavailable
   */
  async sign(ms: number, until?: From): Promise<Signed | undefined> {
    const { store, progress, checkpoints } = this.signing
    // A log that is only read has what was signed of it.
    if ((await store.closed()) !== undefined) return checkpoints.latest()
    const place = until ?? (await store.head())
    if (!(await progress.reached(place, ms))) return checkpoints.latest()
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const signed = await this.#tried()
      if (signed !== 'again') return signed
      await pause(AGAIN)
    }
    return checkpoints.latest()
  }

  /**
   * Signs as `sign` does, and waits until the tree has the checkpoint's own event too: before that nobody could tell whether
   * what ends the log was changed.
   * @param ms waits no longer
   * @throws as `sign`
   */
  async signLast(ms: number): Promise<Signed | undefined> {
    const until = performance.now() + ms
    const signed = await this.sign(ms)
    await this.signing.progress.reached(await this.signing.store.head(), until - performance.now())
    return signed
  }

  async #tried(): Promise<Signed | undefined | 'again'> {
    const { store, model, checkpoints, key } = this.signing
    const queries = new TreeQueries(model)
    const last = await checkpoints.last()
    const origin = await originOf(store)
    const size = await queries.size()
    const isOfNow = last === undefined || last.origin === origin
    if (isOfNow && size <= (last?.size ?? 0) + (last === undefined ? 0 : OWN_EVENT)) return this.#nothingNew(last, size)
    try {
      const root = await queries.root(size)
      if (last !== undefined) await this.#checkBeginning(last, { size, root }, queries)
      const note = signNote(checkpointText({ origin, size, root }), origin, key)
      const kept = await keepSigned(this.signing, note, last?.revision ?? 'none')
      return kept ? { origin, size, root, note, revision: (last?.revision ?? -1n) + 1n } : 'again'
    } catch (error) {
      if (error instanceof IncompleteTree) return 'again'
      throw error
    }
  }

  #nothingNew(last: Signed | undefined, size: number): Signed | undefined {
    if (last !== undefined && size < last.size) {
      throw new LogRewritten(`the log has ${size} events of the ${last.size} that were signed: some were removed`)
    }
    return last
  }

  async #checkBeginning(last: Signed, now: Pick<Signed, 'size' | 'root'>, queries: TreeQueries): Promise<void> {
    const path = last.size <= now.size ? await queries.consistency(last.size, now.size) : []
    if (isBeginning(last, now, path)) return
    throw new LogRewritten(
      `the first ${last.size} events of the log are not those that were signed: some were changed, removed, inserted or ` +
        'put elsewhere; nothing is signed until they are as they were',
    )
  }
}

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms))
