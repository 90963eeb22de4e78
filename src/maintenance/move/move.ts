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
  /** The two for people, without a password. */
  readonly from: string
  readonly to: string
  /** Where both have the same read models, vault and files stay where they are. */
  readonly sharedReads: boolean
  readonly moving: LogMoveContext
}

/** What was moved. The digest is SHA-256 over the events of the log, in hex. */
export type MoveResult = {
  readonly events: number
  readonly digest: string
  readonly files: number
  readonly vault: VaultCopyCounts
  /** Seconds for which nobody took writes. */
  readonly closedFor: number
}

/** `move` was run again behind its end. */
export type PreviousMoveResult = { readonly events: number; readonly digest: string; readonly finishedBefore: true }

/** Seconds: a round that took no longer leaves next to nothing for when the source is closed. */
const MAX_FINAL_ROUND_SECONDS = 1
/** A round that took this part of the one before is worth another one; where more is written than copied, none is. */
const MAX_ROUND_RATIO = 0.7

/**
 * Copies and compares, closes the source, does so with the rest, and lets the target take writes. Each step looks at what is
 * there already.
 * @throws Failed for whatever must not be passed over; the same move goes on where it was
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
  if (!(await isFenced(source, copy))) report.note('the source takes no more writes from here on')
  await fenceLog(moving, source.store, { copy, to })
  await pause(source.store.fenceDelayMs)
  const mails = new MailHold(source.vault, copy, moving.clock)
  try {
    await mails.claimAllDue((count) => report.note(`waiting for ${count} mails that are being sent`))
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

/** Beside the running service. What comes while the files are read is copied by the next round, and not behind the fence. */
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

/** Behind the fence. */
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
  // What came in meanwhile: an append whose answer was lost.
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
 * Does what is done behind the fence. Where the copy is given up meanwhile, the source takes writes again, and whatever
 * fails here fails because of that; a fence that went up in the same moment is taken away.
 * @throws Failed, and what the work throws
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
  new OperationFailure('This copy was given up while it ran: the source takes writes, and the target can be deleted')

/**
 * Lets the source take writes again; what was copied can't be finished any more.
 * @returns the id of the copy
 * @throws Failed where the target is complete, or no copy
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
  new OperationFailure('The target is no unfinished copy: it may take writes of its own, so the source stays as it is')
