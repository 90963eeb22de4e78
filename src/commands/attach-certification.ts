import { randomUUID } from 'node:crypto'
import type { CertificationAttached } from '../domain/certification/certification.ts'
import { attach, detach } from '../domain/certification/decide.ts'
import type { CertificationInput } from '../domain/certification/input.ts'
import { owned } from '../domain/diamond/decide.ts'
import type { Diamond, LiveDiamond } from '../domain/diamond/diamond.ts'
import { diamondStream } from '../domain/diamond/streams.ts'
import { OutcomeUnknown, type Position } from '../stores/event-store.ts'
import type { Incoming, Kept } from '../stores/files.ts'
import type { By } from './change-diamonds.ts'
import { diamondFold } from './diamond-fold.ts'
import { handle, load, type Wish, type Writing } from './handle.ts'
import type { IdBlocks } from './integer-ids.ts'

/** What commands on certifications write with. */
export type Certifying = Writing & { readonly certificationIds: IdBlocks }

/** A report's file that was received whole and looked at. */
export type ReceivedFile = { readonly incoming: Incoming; readonly name: string | null }

export type Attached = {
  readonly certification: CertificationAttached['data']
  /** Its stone as it is with it. */
  readonly diamond: LiveDiamond
  readonly position: Position | undefined
}

/** Milliseconds that a file is still held after an append of which nobody knows whether it arrives. */
const LATE_APPEND = 60_000

/**
 * Attaches a report to a diamond. Its file is durable and held before the event is written, and the event before the
 * answer: a certification that was acknowledged has its file, which is looked for once more behind its event.
 * @throws Refusal missing, forbidden; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function attachCertification(
  writing: Certifying,
  { owner, origin }: By,
  { diamond, laboratory, number }: CertificationInput,
  file?: ReceivedFile,
): Promise<Attached> {
  const stream = diamondStream(diamond)
  owned((await load(writing.store, stream, diamondFold)).state, diamond, owner)
  const id = await writing.certificationIds.take()
  const kept = await file?.incoming.keep()
  return whileHeld(kept, async () => {
    const stored = kept === undefined ? null : { digest: kept.digest, bytes: kept.bytes, name: file?.name ?? null }
    const certification = { laboratory, number, file: stored }
    const wish = { stream, id: randomUUID(), origin }
    const { state, position } = await handle(writing, wish, diamondFold, (state) =>
      attach(state, { diamond, owner }, id, certification),
    )
    await ensured(kept, () => takenBack(writing, wish, { id, owner }))
    return { certification: { id, ...certification }, diamond: live(state, diamond), position }
  })
}

function live(state: Diamond, id: number): LiveDiamond {
  if (state.status !== 'live') throw new Error(`diamond ${id} has a new certification, and is ${state.status}`)
  return state
}

/** A process that stood still for long enough has lost its hold: what it has put on record must be there all the same. */
async function ensured(kept: Kept | undefined, takeBack: () => Promise<unknown>): Promise<void> {
  try {
    await kept?.ensure()
  } catch (error) {
    await takeBack()
    throw error
  }
}

const takenBack = (writing: Certifying, wish: Wish, { id, owner }: { readonly id: number; readonly owner: number }) =>
  handle(writing, { ...wish, id: randomUUID() }, diamondFold, (state) => detach(state, id, owner))

async function whileHeld<Result>(kept: Kept | undefined, action: () => Promise<Result>): Promise<Result> {
  let late = false
  try {
    return await action()
  } catch (error) {
    late = error instanceof OutcomeUnknown
    throw error
  } finally {
    if (late && kept !== undefined) setTimeout(() => kept.release(), LATE_APPEND).unref()
    else kept?.release()
  }
}
