import { carryPersons } from '../../commands/accounts/carry-persons.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { fenceLog, finishCopy, type Moving } from '../../commands/installation/move-log.ts'
import { note } from '../../cli/output.ts'
import { Contents, type Copying } from './contents.ts'
import { counted } from '../../cli/progress-bar.ts'
import { mustNotBeGivenUp, unlessGivenUp } from './given-up.ts'
import { HeldMails } from './mails.ts'
import { ReactionsBehind } from './reactions.ts'
import { mustGoOn, shownStep } from './shown-step.ts'
import { isFenced } from './target.ts'
import { copyVault, type CopiedVault } from './vault.ts'

export type Moved = Copying & { readonly copy: string; readonly to: string; readonly moving: Moving }

export type Copied = {
  readonly events: number
  readonly digest: string
  readonly files: number
  readonly vault: CopiedVault
  /** Seconds for which nobody took writes. */
  readonly closedFor: number
}

/** Seconds: a round that took no longer leaves next to nothing for when the source is closed. */
const NEAR = 1
/** A round that took this part of the one before is worth another one; where more is written than copied, none is. */
const WORTH = 0.7

/**
 * Copies and compares, closes the source, does so with the rest, and lets the target take writes. Each step looks at what is
 * there already.
 * @throws Failed for whatever must not be passed over; the same command goes on where it was
 */
export async function move(moved: Moved): Promise<Copied> {
  const { copy, source, moving, to } = moved
  const contents = new Contents(moved)
  await comeNear(contents)
  mustGoOn(moved.signal)
  await mustNotBeGivenUp(moved)
  const closed = performance.now()
  if (!(await isFenced(source, copy))) note('the source takes no more writes from here on')
  await fenceLog(moving, source.store, { copy, to })
  await pause(source.store.fenceDelay)
  const mails = new HeldMails(source.vault, copy, moving.clock)
  try {
    await mails.hold((count) => note(`waiting for ${count} mails that are being sent`))
    return {
      ...(await unlessGivenUp(moved, () => rest(moved, contents))),
      closedFor: (performance.now() - closed) / 1000,
    }
  } finally {
    mails.close()
  }
}

/** Beside the running service. What comes while the files are read is copied by the next round, and not behind the fence. */
async function comeNear(contents: Contents): Promise<void> {
  let before = Number.POSITIVE_INFINITY
  for (;;) {
    const started = performance.now()
    await contents.copy()
    const seconds = (performance.now() - started) / 1000
    if (seconds < NEAR || seconds > before * WORTH) return
    before = seconds
  }
}

/** Behind the fence. */
async function rest(moved: Moved, contents: Contents): Promise<Omit<Copied, 'closedFor'>> {
  const { copy, source, target, moving } = moved
  await contents.copy()
  const vault = await copiedVault(moved)
  if (!moved.sharedReads) await carryPersons(source.persons.all(), target)
  const reactions = await ReactionsBehind.of(source)
  // What came in meanwhile: an append whose answer was lost.
  let late: number
  do late = await contents.copyLog()
  while (late > 0)
  const compared = contents.compared()
  mustGoOn(moved.signal)
  await reactions.keep(target, contents.places.of)
  await finishCopy(moving, target.store, { copy, ...compared })
  return { ...compared, files: contents.files, vault }
}

async function copiedVault({ source, target, sharedReads, signal }: Moved): Promise<CopiedVault> {
  if (sharedReads) return { entries: 0, receipts: 0, mails: 0 }
  const step = { label: 'copying the vault', expected: await counted(source.vault.contents()), unit: 'items' }
  return shownStep(signal, step, (progress) => copyVault(source.vault, target.vault, progress))
}
