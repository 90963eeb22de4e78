import { setTimeout as pause } from 'node:timers/promises'
import { routine } from '../../projections/engine/loop.ts'
import { keepSigned } from '../../commands/evidence/signed-checkpoints.ts'
import type { Writing } from '../../commands/core/handle.ts'
import type { KeyObject } from 'node:crypto'
import { checkpointText, signNote } from '../../evidence/note.ts'
import { IncompleteTree } from '../../evidence/tiles.ts'
import { isBeginning } from '../../evidence/proof.ts'
import type { Progress } from '../../projections/engine/progress.ts'
import { originOf, type Checkpoints, type Signed, type Signer } from '../../projections/tree/checkpoints.ts'
import { TreeQueries } from '../../projections/tree/tree-queries.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { BrokenEvent } from '../../events/decode.ts'
import { endsWithin } from '../../runtime/deadline.ts'
import type { Log } from '../../runtime/log.ts'
import { LogClosed, type From } from '../../stores/ports/event-store.ts'

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
export class CheckpointSigner implements Signer {
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

/** Milliseconds between two checkpoints where anything happens: nobody waits longer for a proof of something. */
const EVERY = 60_000
/** Milliseconds that a round waits for the tree to come to the head. */
const PATIENCE = 10_000
/** Milliseconds that a stop waits for the last checkpoint. */
const LAST = 2_000

/** What the signing of checkpoints works with. */
export type SigningTools = {
  /** Undefined where the log has no key, and takes none any more. */
  readonly signer: Pick<CheckpointSigner, 'sign' | 'signLast'> | undefined
  readonly log: Log
}

/** Signs the root of the log's tree every minute in which anything happened, and when the service stops. */
export const checkpointSigning = routine<SigningTools>({
  name: 'checkpoint-signing',
  every: EVERY,
  doing(tools) {
    // What was before a start was signed when the service stopped, or will be with the first minute.
    let isFirst = true
    return async () => {
      if (isFirst) isFirst = false
      else await signed(tools, (signer) => signer.sign(PATIENCE))
    }
  },
  async last(tools) {
    const last = signed(tools, (signer) => signer.signLast(LAST))
    last.catch((error: unknown) => tools.log.warn({ err: error }, 'no checkpoint was signed when the service stopped'))
    await endsWithin(last, LAST)
  },
})

/** What was rewritten is told each time: it is for an operator, and trying again mends nothing. */
async function signed(
  { signer, log }: SigningTools,
  sign: (signer: NonNullable<SigningTools['signer']>) => Promise<unknown>,
): Promise<void> {
  try {
    if (signer !== undefined) await sign(signer)
  } catch (error) {
    if (error instanceof LogClosed) return
    if (!(error instanceof BrokenEvent)) throw error
    log.error({ err: error }, 'no checkpoint is signed: the log is not what was signed of it; run adamant verify')
  }
}
