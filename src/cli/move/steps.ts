import { setTimeout as pause } from 'node:timers/promises'
import { fenceLog, finishCopy, type Moving } from '../../commands/move-log.ts'
import type { Installation } from '../../installation.ts'
import { Failed } from '../failure.ts'
import { note } from '../output.ts'
import { progressBar } from '../progress-bar.ts'
import type { StopSignal } from '../stop-signal.ts'
import { counted } from './counted.ts'
import { copyFiles, verifyFiles } from './files.ts'
import { mustNotBeGivenUp, unlessGivenUp } from './given-up.ts'
import { HeldMails } from './mails.ts'
import { ReactionsBehind } from './reactions.ts'
import { isFenced } from './target.ts'
import { copyVault, type CopiedVault } from './vault.ts'
import { copied, Walk } from './walk.ts'

export type Copying = {
  readonly copy: string
  readonly source: Installation
  readonly target: Installation
  /** Where both have the same read models, vault and files stay where they are. */
  readonly sharedReads: boolean
  readonly to: string
  readonly moving: Moving
  readonly signal: StopSignal
}

export type Copied = {
  readonly events: number
  readonly digest: string
  readonly files: number
  readonly vault: CopiedVault
  /** Seconds for which nobody took writes. */
  readonly closedFor: number
}

/** With fewer events than this behind, the source is fenced. */
const NEAR = 1_000
/** A round that has this part of the one before left to do is worth another one; where more is written than copied, none is. */
const WORTH = 0.7

/**
 * Copies, fences, copies the rest, compares, and lets the target take writes. Each step looks at what is there already.
 * @throws Failed for whatever must not be passed over; the same command goes on where it was
 */
export async function move(copying: Copying): Promise<Copied> {
  const { copy, source, target, moving, to } = copying
  const events = await counted(copied(source.store.readAll('start')))
  const walk = await stepOf('copying the log', events, 'events', async (progress) => {
    const going = new Walk(source.store, target.store, reporting(copying.signal, progress))
    await comeNear(going)
    return going
  })
  await files(copying)
  mustGoOn(copying.signal)
  await mustNotBeGivenUp(copying)
  const closed = performance.now()
  if (!(await isFenced(source, copy))) note('the source takes no more writes from here on')
  await fenceLog(moving, source.store, { copy, to })
  await pause(source.store.fenceDelay)
  const mails = new HeldMails(source.vault, copy, moving.clock)
  try {
    await mails.hold((count) => note(`waiting for ${count} mails that are being sent`))
    return {
      ...(await unlessGivenUp(copying, () => rest(copying, walk))),
      closedFor: (performance.now() - closed) / 1000,
    }
  } finally {
    mails.close()
  }
}

async function comeNear(walk: Walk): Promise<void> {
  let before = Number.POSITIVE_INFINITY
  for (let filled = await walk.fill(); filled > NEAR && filled < before * WORTH; filled = await walk.fill()) {
    before = filled
  }
}

/** Behind the fence. */
async function rest(copying: Copying, walk: Walk): Promise<Omit<Copied, 'closedFor'>> {
  const { copy, source, target, moving, sharedReads } = copying
  await walk.fill()
  const copiedFiles = await files(copying)
  const vault = sharedReads
    ? { entries: 0, receipts: 0, mails: 0 }
    : await stepOf('copying the vault', await counted(source.vault.contents()), 'items', (progress) =>
        copyVault(source.vault, target.vault, progress),
      )
  const reactions = await ReactionsBehind.of(source)
  const verified = await stepOf('comparing', walk.events, 'events', (progress) => verify(copying, reactions, progress))
  mustGoOn(copying.signal)
  await reactions.keep(target)
  await finishCopy(moving, target.store, { copy, events: verified.events, digest: verified.digest() })
  return { events: verified.events, digest: verified.digest(), files: copiedFiles, vault }
}

/** Reads both logs once more from the beginning, and once more what came in meanwhile: an append whose answer was lost. */
async function verify(copying: Copying, reactions: ReactionsBehind, progress: (events: number) => void): Promise<Walk> {
  const { source, target, sharedReads, signal } = copying
  const walk = new Walk(source.store, target.store, reporting(signal, progress))
  await walk.compare(reactions.pair)
  if (!sharedReads) await verifyFiles(source.files, target.files, () => mustGoOn(signal))
  await walk.fill()
  return walk
}

async function files({ source, target, sharedReads, signal }: Copying): Promise<number> {
  if (sharedReads) return 0
  const { files: count } = await stepOf('copying files', await counted(source.files.list()), 'files', (progress) =>
    copyFiles(source.files, target.files, reporting(signal, progress)),
  )
  return count
}

async function stepOf<Result>(
  label: string,
  expected: number,
  unit: string,
  work: (progress: (done: number) => void) => Promise<Result>,
): Promise<Result> {
  if (expected === 0) return work(() => undefined)
  const bar = progressBar(label, expected, unit)
  try {
    return await work((done) => bar.update(done))
  } finally {
    bar.end()
  }
}

const reporting = (signal: StopSignal, progress: (done: number) => void) => (done: number) => {
  mustGoOn(signal)
  progress(done)
}

function mustGoOn({ came }: StopSignal): void {
  if (came) throw new Failed('Stopped. Run the same command again, and it goes on where it was')
}
