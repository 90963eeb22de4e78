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
import { isIntentionallyReadOnly } from '../../domain/installation/read-only-state.ts'
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
  readonly sharesReadStore: boolean
  readonly moveContext: LogMoveContext
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
type PreviousMoveResult = { readonly events: number; readonly digest: string; readonly finishedBefore: true }

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
  const { source, target, from, moveContext } = move
  await checkKeys(source, target)
  const { copy, completion } = await beginMove(move, from)
  if (completion !== undefined) {
    await finishCopy(moveContext, target.store, { copy, ...completion })
    return { ...completion, finishedBefore: true }
  }
  await requireMovableSource(source, copy)
  await joinStores({ store: target.store, ...moveContext }, await storeIdentitiesOf(target))
  return closeAndCopy(move, copy)
}

async function closeAndCopy(move: MoveOperation, copy: string): Promise<MoveResult> {
  const { source, target, to, moveContext, report, signal } = move
  const installationCopy = new InstallationCopy(move)
  await copyUntilCaughtUp(move, installationCopy)
  signal.throwIfAborted()
  if (await isAbandoned(target)) throw createAbandonedError()
  const closedAt = performance.now()
  if (!(await isFenced(source, copy))) report.note('the source is read-only from now on')
  await fenceLog(moveContext, source.store, { copy, to })
  await pause(source.store.fenceDelayMs)
  const mails = new MailHold(source.vault, copy, moveContext.clock)
  try {
    await mails.claimAllDue((count) => report.note(`waiting for mails that are being sent: ${count}`))
    const result = await runUnlessAbandoned(move, copy, () => copyAfterFence(move, copy, installationCopy))
    return { ...result, closedFor: (performance.now() - closedAt) / 1000 }
  } finally {
    mails.close()
  }
}

async function copyContents({ sharesReadStore }: MoveOperation, installationCopy: InstallationCopy): Promise<void> {
  await installationCopy.copyLog()
  if (!sharesReadStore) await installationCopy.copyAllFiles()
}

/** Runs before the fence. Each round copies what was written during the previous one, so that little is left for the fence. */
async function copyUntilCaughtUp(move: MoveOperation, installationCopy: InstallationCopy): Promise<void> {
  let previousSeconds = Number.POSITIVE_INFINITY
  for (;;) {
    const started = performance.now()
    await copyContents(move, installationCopy)
    const seconds = (performance.now() - started) / 1000
    if (seconds < MAX_FINAL_ROUND_SECONDS || seconds > previousSeconds * MAX_ROUND_RATIO) return
    previousSeconds = seconds
  }
}

const NO_VAULT_ITEMS: VaultCopyCounts = { entries: 0, receipts: 0, mails: 0 }

/** Runs after the fence. */
async function copyAfterFence(
  move: MoveOperation,
  copy: string,
  installationCopy: InstallationCopy,
): Promise<Omit<MoveResult, 'closedFor'>> {
  const { source, target, sharesReadStore, moveContext, signal } = move
  await copyContents(move, installationCopy)
  const vault = sharesReadStore ? NO_VAULT_ITEMS : await installationCopy.copyVault()
  if (!sharesReadStore) await installationCopy.copyPersons()
  const checkpoints = await ReactionCheckpoints.readFrom(source)
  // An append that was in progress at the fence may have been stored meanwhile.
  let lateEventCount: number
  do lateEventCount = await installationCopy.copyLog()
  while (lateEventCount > 0)
  const logSummary = installationCopy.requireEqualLogs()
  signal.throwIfAborted()
  await checkpoints.writeTo(target, (position) => installationCopy.findTargetPosition(position))
  await finishCopy(moveContext, target.store, { copy, ...logSummary })
  return { ...logSummary, files: installationCopy.fileCount, vault }
}

/**
 * Runs the work after the fence. If another process abandons the move meanwhile, the work fails as a result; a fence that was
 * set concurrently is then removed.
 * @throws OperationFailure if the move was abandoned, else whatever `work` throws
 */
async function runUnlessAbandoned<Result>(
  { source, target, moveContext }: MoveOperation,
  copy: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(await isAbandoned(target))) throw error
    await openLog(moveContext, source.store, copy)
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
  moveContext,
}: Pick<MoveOperation, 'source' | 'target' | 'moveContext'>): Promise<string> {
  const closedReason = await target.store.closedReason()
  if (
    closedReason === undefined ||
    isIntentionallyReadOnly(closedReason.why) ||
    closedReason.why === 'fenced' ||
    !closedReason.copy
  )
    throw createNotAbandonableError()
  try {
    await abandonCopy(moveContext, target.store, closedReason.copy)
  } catch (error) {
    throw error instanceof CopyEnded ? createNotAbandonableError() : error
  }
  await openLog(moveContext, source.store, closedReason.copy)
  return closedReason.copy
}

const createNotAbandonableError = () =>
  new OperationFailure('The target is not an unfinished copy, so it may accept writes: the source was left unchanged')
