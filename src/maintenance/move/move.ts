import { setTimeout as pause } from 'node:timers/promises'
import { joinStores } from '../../commands/installation/join-stores.ts'
import {
  abandonCopy,
  CopyEnded,
  fenceLog,
  finishCopy,
  openLog,
  type LogMoveContext,
} from '../../commands/installation/move-log.ts'
import { isIntentionallyReadOnly } from '../../domain/installation/log-lifecycle.ts'
import { storeIdentitiesOf, type Installation } from '../../wiring/installation.ts'
import { InstallationCopy, type VaultCopyCounts } from '../copy/installation.ts'
import { OperationFailure, type Operation } from '../operation.ts'
import { beginMove, checkKeys, isFenced, requireMovableSource } from './preconditions.ts'
import { MailHold, ReactionCheckpoints } from './in-flight.ts'

export type MoveOperation = Operation & {
  readonly source: Installation
  readonly target: Installation
  /** Addresses to show, without passwords. */
  readonly from: string
  readonly to: string
  /** Whether both use the same read model store: then vault and files are not copied. */
  readonly sharedReads: boolean
  readonly moving: LogMoveContext
}

/** `digest`: SHA-256 over the events of the log, in hex. */
export type MoveResult = {
  readonly events: number
  readonly digest: string
  readonly files: number
  readonly vault: VaultCopyCounts
  /** Seconds during which both installations rejected writes. */
  readonly closedFor: number
}

/** The result of running a completed move again. */
export type PreviousMoveResult = { readonly events: number; readonly digest: string; readonly finishedBefore: true }

/** The source is fenced after a round that took less: little is then left to copy while it rejects writes. */
const MAX_FINAL_ROUND_SECONDS = 1
/** Another round is made only if the last one took less than this fraction of the one before; else writes outpace copying. */
const MAX_ROUND_RATIO = 0.7

/**
 * Copies and compares everything while the source runs, fences the source, copies the rest, and opens the target for writes.
 * Every step skips what has been done already, so that an interrupted or failed move can be run again.
 * @throws OperationFailure
 */
export async function moveInstallation(move: MoveOperation): Promise<MoveResult | PreviousMoveResult> {
  const { source, target, from, moving } = move
  await checkKeys(source, target)
  const { copy, completion } = await beginMove(move, from)
  if (completion !== undefined) {
    await finishCopy(moving, target.store, { copy, ...completion })
    return { ...completion, finishedBefore: true }
  }
  await requireMovableSource(source, copy)
  await joinStores({ store: target.store, ...moving }, await storeIdentitiesOf(target))
  return closeAndCopy(move, copy)
}

async function closeAndCopy(move: MoveOperation, copy: string): Promise<MoveResult> {
  const { source, target, to, moving, report, signal } = move
  const copying = new InstallationCopy(move)
  await copyUntilCaughtUp(move, copying)
  signal.throwIfAborted()
  if (await isAbandoned(target)) throw createAbandonedError()
  const closed = performance.now()
  if (!(await isFenced(source, copy))) report.note('the source is read-only from now on')
  await fenceLog(moving, source.store, { copy, to })
  await pause(source.store.fenceDelayMs)
  const mails = new MailHold(source.vault, copy, moving.clock)
  try {
    await mails.claimAllDue((count) => report.note(`waiting for mails that are being sent: ${count}`))
    const moved = await unlessAbandoned(move, copy, () => copyRest(move, copy, copying))
    return { ...moved, closedFor: (performance.now() - closed) / 1000 }
  } finally {
    mails.close()
  }
}

async function copyContents({ sharedReads }: MoveOperation, copying: InstallationCopy): Promise<void> {
  await copying.copyLog()
  if (!sharedReads) await copying.copyAllFiles()
}

/** Runs before the fence. Each round copies what was written during the previous one, so that little is left for the fence. */
async function copyUntilCaughtUp(move: MoveOperation, copying: InstallationCopy): Promise<void> {
  let before = Number.POSITIVE_INFINITY
  for (;;) {
    const started = performance.now()
    await copyContents(move, copying)
    const seconds = (performance.now() - started) / 1000
    if (seconds < MAX_FINAL_ROUND_SECONDS || seconds > before * MAX_ROUND_RATIO) return
    before = seconds
  }
}

const NO_VAULT_ITEMS: VaultCopyCounts = { entries: 0, receipts: 0, mails: 0 }

/** Runs after the fence. */
async function copyRest(
  move: MoveOperation,
  copy: string,
  copying: InstallationCopy,
): Promise<Omit<MoveResult, 'closedFor'>> {
  const { source, target, sharedReads, moving, signal } = move
  await copyContents(move, copying)
  const vault = sharedReads ? NO_VAULT_ITEMS : await copying.copyVault()
  if (!sharedReads) await copying.copyPersons()
  const checkpoints = await ReactionCheckpoints.readFrom(source)
  // An append that was in progress at the fence may have been stored meanwhile.
  let late: number
  do late = await copying.copyLog()
  while (late > 0)
  const compared = copying.requireEqualLogs()
  signal.throwIfAborted()
  await checkpoints.writeTo(target, (position) => copying.findTargetPosition(position))
  await finishCopy(moving, target.store, { copy, ...compared })
  return { ...compared, files: copying.fileCount, vault }
}

/**
 * Runs the work after the fence. If another process abandons the move meanwhile, the work fails as a result; a fence that was
 * set concurrently is then removed.
 * @throws OperationFailure if the move was abandoned, else whatever `work` throws
 */
async function unlessAbandoned<Result>(
  { source, target, moving }: MoveOperation,
  copy: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(await isAbandoned(target))) throw error
    await openLog(moving, source.store, copy)
    throw createAbandonedError()
  }
}

const isAbandoned = async ({ store }: Installation) => (await store.closedReason())?.why === 'abandoned'

const createAbandonedError = () =>
  new OperationFailure('The move was abandoned while it ran: the source accepts writes, and the target can be deleted')

/**
 * Abandons an unfinished move: opens the source for writes again and makes the target unusable.
 * @returns the id of the copy
 * @throws OperationFailure if the target is complete, or not a copy
 */
export async function abandonMove({
  source,
  target,
  moving,
}: Pick<MoveOperation, 'source' | 'target' | 'moving'>): Promise<string> {
  const closed = await target.store.closedReason()
  if (closed === undefined || isIntentionallyReadOnly(closed.why) || closed.why === 'fenced' || !closed.copy)
    throw createNotAbandonableError()
  try {
    await abandonCopy(moving, target.store, closed.copy)
  } catch (error) {
    throw error instanceof CopyEnded ? createNotAbandonableError() : error
  }
  await openLog(moving, source.store, closed.copy)
  return closed.copy
}

const createNotAbandonableError = () =>
  new OperationFailure('The target is not an unfinished copy, so it may accept writes: the source was left unchanged')
