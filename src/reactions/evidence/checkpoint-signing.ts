import { setTimeout as pause } from 'node:timers/promises'
import { defineScheduledJob } from '../../projections/engine/loop.ts'
import { appendSignedCheckpoint } from '../../commands/evidence/signed-checkpoints.ts'
import type { CommandContext } from '../../commands/core/command-context.ts'
import type { KeyObject } from 'node:crypto'
import { formatCheckpoint, signNote } from '../../evidence/note.ts'
import { IncompleteTree } from '../../evidence/tiles.ts'
import { isConsistent } from '../../evidence/proof.ts'
import type { ProjectionProgress } from '../../projections/engine/progress.ts'
import {
  logOriginOf,
  type SignedCheckpoints,
  type SignedCheckpoint,
  type Signer,
} from '../../projections/tree/signed-checkpoints.ts'
import { TreeQueries } from '../../projections/tree/tree-queries.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { InvalidEventPayload } from '../../events/decode.ts'
import { settlesWithin } from '../../runtime/deadline.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { LogClosed, type PositionOrStart } from '../../stores/ports/event-store.ts'

/** The log differs from its last signed checkpoint: events were changed, removed, inserted or moved. */
export class LogRewritten extends InvalidEventPayload {}

type CheckpointSignerOptions = CommandContext & {
  /** The read model of the tree. */
  readonly model: ReadModel
  readonly progress: ProjectionProgress
  readonly checkpoints: SignedCheckpoints
  readonly key: KeyObject
}

/** Attempts, in case of races with other processes or with a tree that is being written. */
const MAX_ATTEMPTS = 4
const RETRY_DELAY_MS = 50

/** A checkpoint's own event is a leaf of the next tree; it alone is no reason to sign again. */
const OWN_LEAF_COUNT = 1

/**
 * Signs roots of the tree. Each must extend the last signed one, so that consistency with any older checkpoint can be
 * proven.
 */
export class CheckpointSigner implements Signer {
  constructor(private readonly options: CheckpointSignerOptions) {}

  /**
   * Signs the current tree if it has grown since the last checkpoint.
   * @param until position that the tree must reach; default: the head of the log
   * @param timeoutMs maximum wait for the tree
   * @returns the latest signed checkpoint; undefined if there is none because the tree lags too much
   * @throws LogRewritten, ForeignCheckpoint, LogClosed, StoreUnavailable
   */
  async sign(timeoutMs: number, until?: PositionOrStart): Promise<SignedCheckpoint | undefined> {
    const { store, progress, checkpoints } = this.options
    // A closed log can't be appended to: return what was signed.
    if ((await store.closedReason()) !== undefined) return checkpoints.latestOfEpoch()
    const targetPosition = until ?? (await store.head())
    if (!(await progress.waitForPosition(targetPosition, timeoutMs))) return checkpoints.latestOfEpoch()
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const signed = await this.#trySign()
      if (signed !== 'again') return signed
      await pause(RETRY_DELAY_MS)
    }
    return checkpoints.latestOfEpoch()
  }

  /**
   * Signs, then waits until the tree includes the checkpoint's own event, which is needed to detect changes at the end
   * of the log.
   * @param timeoutMs maximum wait, in total
   * @throws as `sign`
   */
  async signOnShutdown(timeoutMs: number): Promise<SignedCheckpoint | undefined> {
    const deadline = performance.now() + timeoutMs
    const signed = await this.sign(timeoutMs)
    await this.options.progress.waitForPosition(await this.options.store.head(), deadline - performance.now())
    return signed
  }

  async #trySign(): Promise<SignedCheckpoint | undefined | 'again'> {
    const { store, model, checkpoints, key } = this.options
    const queries = new TreeQueries(model)
    const last = await checkpoints.latestOfAnyEpoch()
    const origin = await logOriginOf(store)
    const size = await queries.size()
    const isSameOrigin = last === undefined || last.origin === origin
    if (isSameOrigin && size <= (last?.size ?? 0) + (last === undefined ? 0 : OWN_LEAF_COUNT))
      return this.#lastUnlessTruncated(last, size)
    try {
      const root = await queries.root(size)
      if (last !== undefined) await this.#requireConsistent(last, { size, root }, queries)
      const note = signNote(formatCheckpoint({ origin, size, root }), origin, key)
      const isAppended = await appendSignedCheckpoint(this.options, note, last?.revision ?? 'none')
      return isAppended ? { origin, size, root, note, revision: (last?.revision ?? -1n) + 1n } : 'again'
    } catch (error) {
      if (error instanceof IncompleteTree) return 'again'
      throw error
    }
  }

  #lastUnlessTruncated(last: SignedCheckpoint | undefined, size: number): SignedCheckpoint | undefined {
    if (last !== undefined && size < last.size) {
      throw new LogRewritten(`the log has ${size} of the ${last.size} events that were signed: events were removed`)
    }
    return last
  }

  async #requireConsistent(
    last: SignedCheckpoint,
    current: Pick<SignedCheckpoint, 'size' | 'root'>,
    queries: TreeQueries,
  ): Promise<void> {
    const proof = last.size <= current.size ? await queries.consistencyProof(last.size, current.size) : []
    if (isConsistent(last, current, proof)) return
    throw new LogRewritten(
      `the first ${last.size} events of the log differ from those that were signed: events were changed, removed, ` +
        'inserted or moved; no checkpoint is signed until they are restored',
    )
  }
}

/** Milliseconds between two checkpoints if there are new events: a bound for the wait for a proof. */
const SIGNING_INTERVAL_MS = 60_000
/** Milliseconds that a round waits for the tree to reach the head. */
const TREE_WAIT_MS = 10_000
/** Milliseconds that a stop waits for the last checkpoint. */
const SHUTDOWN_TIMEOUT_MS = 2_000

export type CheckpointSigningTools = {
  /** Undefined if the log has no signing key and is closed. */
  readonly signer: Pick<CheckpointSigner, 'sign' | 'signOnShutdown'> | undefined
  readonly log: AppLogger
}

/** Signs the log's tree every minute with new events, and when the service stops. */
export const checkpointSigning = defineScheduledJob<CheckpointSigningTools>({
  name: 'checkpoint-signing',
  intervalMs: SIGNING_INTERVAL_MS,
  createRound(tools) {
    // Earlier events were signed when the service stopped, or will be after the first minute.
    let isFirst = true
    return async () => {
      if (isFirst) isFirst = false
      else await signAndReportTampering(tools, (signer) => signer.sign(TREE_WAIT_MS))
    }
  },
  async onStop(tools) {
    const last = signAndReportTampering(tools, (signer) => signer.signOnShutdown(SHUTDOWN_TIMEOUT_MS))
    last.catch((error: unknown) => tools.log.warn({ err: error }, 'no checkpoint was signed when the service stopped'))
    await settlesWithin(last, SHUTDOWN_TIMEOUT_MS)
  },
})

/** Logs a rewritten log each time instead of throwing: an operator must act, a retry does not help. */
async function signAndReportTampering(
  { signer, log }: CheckpointSigningTools,
  sign: (signer: NonNullable<CheckpointSigningTools['signer']>) => Promise<unknown>,
): Promise<void> {
  try {
    if (signer !== undefined) await sign(signer)
  } catch (error) {
    if (error instanceof LogClosed) return
    if (!(error instanceof InvalidEventPayload)) throw error
    log.error(
      { err: error },
      'no checkpoint is signed: the log differs from the last signed checkpoint; run adamant verify',
    )
  }
}
