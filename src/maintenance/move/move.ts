import { setTimeout as pause } from 'node:timers/promises'
import { joinStores } from '../../commands/installation/join-stores.ts'
import {
  abandonCopy,
  CopyEnded,
  fenceLog,
  finishCopy,
  openLog,
  type Moving,
} from '../../commands/installation/move-log.ts'
import { isForReading } from '../../domain/installation/moving.ts'
import { joinedOf, type Installation } from '../../wiring/installation.ts'
import { InstallationCopy, type CopiedVault } from '../copy/installation.ts'
import { Failed, type Operation } from '../operation.ts'
import { beginMove, checkKeys, isFenced, mustBeSource } from './ends.ts'
import { HeldMails, ReactionCheckpoints } from './under-way.ts'

export type Move = Operation & {
  readonly source: Installation
  readonly target: Installation
  /** The two for people, without a password. */
  readonly from: string
  readonly to: string
  /** Where both have the same read models, vault and files stay where they are. */
  readonly sharedReads: boolean
  readonly moving: Moving
}

/** What was moved. The digest is SHA-256 over the events of the log, in hex. */
export type Moved = {
  readonly events: number
  readonly digest: string
  readonly files: number
  readonly vault: CopiedVault
  /** Seconds for which nobody took writes. */
  readonly closedFor: number
}

/** `move` was run again behind its end. */
export type MovedBefore = { readonly events: number; readonly digest: string; readonly finishedBefore: true }

/** Seconds: a round that took no longer leaves next to nothing for when the source is closed. */
const NEAR = 1
/** A round that took this part of the one before is worth another one; where more is written than copied, none is. */
const WORTH = 0.7

/**
 * Copies and compares, closes the source, does so with the rest, and lets the target take writes. Each step looks at what is
 * there already.
 * @throws Failed for whatever must not be passed over; the same move goes on where it was
 */
export async function moveInstallation(move: Move): Promise<Moved | MovedBefore> {
  const { source, target, from, moving } = move
  await checkKeys(source, target)
  const { copy, done } = await beginMove(move, from)
  if (done !== undefined) {
    await finishCopy(moving, target.store, { copy, ...done })
    return { ...done, finishedBefore: true }
  }
  await mustBeSource(source, copy)
  await joinStores({ store: target.store, ...moving }, await joinedOf(target))
  return closeAndCopy(move, copy)
}

async function closeAndCopy(move: Move, copy: string): Promise<Moved> {
  const { source, target, to, moving, report, signal } = move
  const copying = new InstallationCopy(move)
  await comeNear(move, copying)
  signal.throwIfAborted()
  if (await isGivenUp(target)) throw givenUp()
  const closed = performance.now()
  if (!(await isFenced(source, copy))) report.note('the source takes no more writes from here on')
  await fenceLog(moving, source.store, { copy, to })
  await pause(source.store.fenceDelay)
  const mails = new HeldMails(source.vault, copy, moving.clock)
  try {
    await mails.hold((count) => report.note(`waiting for ${count} mails that are being sent`))
    const moved = await unlessGivenUp(move, copy, () => copyRest(move, copy, copying))
    return { ...moved, closedFor: (performance.now() - closed) / 1000 }
  } finally {
    mails.close()
  }
}

async function copyContents({ sharedReads }: Move, copying: InstallationCopy): Promise<void> {
  await copying.log()
  if (!sharedReads) await copying.allFiles()
}

/** Beside the running service. What comes while the files are read is copied by the next round, and not behind the fence. */
async function comeNear(move: Move, copying: InstallationCopy): Promise<void> {
  let before = Number.POSITIVE_INFINITY
  for (;;) {
    const started = performance.now()
    await copyContents(move, copying)
    const seconds = (performance.now() - started) / 1000
    if (seconds < NEAR || seconds > before * WORTH) return
    before = seconds
  }
}

const NOTHING: CopiedVault = { entries: 0, receipts: 0, mails: 0 }

/** Behind the fence. */
async function copyRest(move: Move, copy: string, copying: InstallationCopy): Promise<Omit<Moved, 'closedFor'>> {
  const { source, target, sharedReads, moving, signal } = move
  await copyContents(move, copying)
  const vault = sharedReads ? NOTHING : await copying.vault()
  if (!sharedReads) await copying.persons()
  const checkpoints = await ReactionCheckpoints.of(source)
  // What came in meanwhile: an append whose answer was lost.
  let late: number
  do late = await copying.log()
  while (late > 0)
  const compared = copying.compared()
  signal.throwIfAborted()
  await checkpoints.writeTo(target, (position) => copying.placeOf(position))
  await finishCopy(moving, target.store, { copy, ...compared })
  return { ...compared, files: copying.files, vault }
}

/**
 * Does what is done behind the fence. Where the copy is given up meanwhile, the source takes writes again, and whatever
 * fails here fails because of that; a fence that went up in the same moment is taken away.
 * @throws Failed, and what the work throws
 */
async function unlessGivenUp<Result>(
  { source, target, moving }: Move,
  copy: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(await isGivenUp(target))) throw error
    await openLog(moving, source.store, copy)
    throw givenUp()
  }
}

const isGivenUp = async ({ store }: Installation) => (await store.closed())?.why === 'abandoned'

const givenUp = () =>
  new Failed('This copy was given up while it ran: the source takes writes, and the target can be deleted')

/**
 * Lets the source take writes again; what was copied can't be finished any more.
 * @returns the id of the copy
 * @throws Failed where the target is complete, or no copy
 */
export async function giveUpMove({
  source,
  target,
  moving,
}: Pick<Move, 'source' | 'target' | 'moving'>): Promise<string> {
  const closed = await target.store.closed()
  if (closed === undefined || isForReading(closed.why) || closed.why === 'fenced' || !closed.copy) throw isComplete()
  try {
    await abandonCopy(moving, target.store, closed.copy)
  } catch (error) {
    throw error instanceof CopyEnded ? isComplete() : error
  }
  await openLog(moving, source.store, closed.copy)
  return closed.copy
}

const isComplete = () =>
  new Failed('The target is no unfinished copy: it may take writes of its own, so the source stays as it is')
