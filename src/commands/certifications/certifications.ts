import { randomUUID } from 'node:crypto'
import type {
  CertificationAttached,
  CertificationInput,
  ReportFile,
  ReportReading,
} from '../../domain/certification/certification.ts'
import { contradictionsOf, type Contradiction } from '../../domain/certification/contradictions.ts'
import {
  attach,
  certificationOf,
  detach,
  diamondDecider,
  diamondStream,
  owned,
  recordReading as decide,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/origin.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { Incoming, Kept } from '../../stores/ports/files.ts'
import { onceForKey } from '../bulk/once.ts'
import type { IdempotencyKey } from '../bulk/request.ts'
import { handle, type Writing } from '../core/handle.ts'
import { ensured, whileHeld } from '../core/held-files.ts'
import { foldEvents } from '../../events/load.ts'
import type { By } from '../diamonds/diamonds.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'

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

/** What is attached to which diamond. */
type Wanted = CertificationInput & { readonly file: ReportFile | null }

/**
 * Attaches a report to a diamond. Its file is durable and held before the event is written, and the event before the
 * answer: a certification that was acknowledged has its file, which is looked for once more behind its event.
 * @param key where the caller sent an Idempotency-Key: the same request again gives the first certification again
 * @throws Refusal missing, forbidden, invalid when the key was used for another body; WrongRevision, OutcomeUnknown,
 *   StoreUnavailable
 */
export async function attachCertification(
  writing: Certifying,
  by: By,
  input: CertificationInput,
  file?: ReceivedFile,
  key?: IdempotencyKey,
): Promise<Attached> {
  const { diamond } = input
  const stream = diamondStream(diamond)
  if (key === undefined)
    owned((await writing.states.load(writing.store, stream, diamondDecider)).state, diamond, by.owner)
  const kept = await file?.incoming.keep()
  return whileHeld(kept, () => {
    const stored = kept === undefined ? null : { digest: kept.digest, bytes: kept.bytes, name: file?.name ?? null }
    const wanted = { ...input, file: stored }
    if (key === undefined) return attachAs(writing, by, wanted, randomUUID(), kept)
    const keyed = { ...key, owner: by.owner, body: wanted }
    return onceForKey(writing, keyed, {
      diamond,
      origin: by.origin,
      make: (wish) => attachAs(writing, by, wanted, wish, kept),
      again: (wish) => firstAnswer(writing, stream, wish),
      takeBack: ({ certification: { id } }) => takenBack(writing, { ...by, stream, id }),
    })
  })
}

/** @param wish names what is wanted: an earlier try of it that was stored is found */
async function attachAs(
  writing: Certifying,
  by: By,
  { diamond, laboratory, number, file }: Wanted,
  wish: string,
  kept: Kept | undefined,
): Promise<Attached> {
  const { owner, origin } = by
  const stream = diamondStream(diamond)
  const id = await writing.certificationIds.take()
  const { state, events, position } = await handle(writing, { stream, id: wish, origin }, diamondDecider, (found) =>
    attach(found, { diamond, owner }, id, { laboratory, number, file }),
  )
  const attached = events.find((event) => event.type === 'CertificationAttached')
  if (attached === undefined || state.status !== 'live') return firstAnswer(writing, stream, wish)
  await ensured(kept, () => takenBack(writing, { ...by, stream, id: attached.data.id }))
  return { certification: attached.data, diamond: state, position }
}

/** What a wish has attached, however long ago; its stone as it is, or as it was then where it is gone by now. */
async function firstAnswer({ store }: Writing, stream: string, wish: string): Promise<Attached> {
  const stored = await store.read(stream)
  const index = stored.findIndex(({ id }) => id === eventId(wish, 0))
  const event = stored[index]
  if (event === undefined) throw new Error(`${stream} has nothing of a request that was done`)
  const now = foldEvents(diamondDecider, stored)
  const diamond = now.status === 'live' ? now : foldEvents(diamondDecider, stored.slice(0, index + 1))
  if (diamond.status !== 'live') throw new Error(`${stream} has a certification, and is ${diamond.status}`)
  return { certification: decode<CertificationAttached>(event).data, diamond, position: event.position }
}

type Taking = By & { readonly stream: string; readonly id: number }

const takenBack = (writing: Certifying, { owner, origin, stream, id }: Taking) =>
  handle(writing, { stream, origin }, diamondDecider, (state) => detach(state, id, owner))

/**
 * Removes a certification; its file is collected later, when nothing uses it.
 * @param diamond that it is attached to
 * @throws Refusal missing, forbidden; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function removeCertification(
  writing: Writing,
  { owner, origin }: By,
  { id, diamond }: { readonly id: number; readonly diamond: number },
): Promise<Position | undefined> {
  const wish = { stream: diamondStream(diamond), origin }
  const { position } = await handle(writing, wish, diamondDecider, (state) => detach(state, id, owner))
  return position
}

export type ReadReport = {
  readonly diamond: number
  readonly certification: number
  readonly reading: ReportReading
  /** The request that attached the report, and its event's id. */
  readonly correlation: string
  readonly causation: string
  readonly trace?: string
}

/** In what the report says otherwise than its owner. */
export type Recorded = { readonly contradictions: readonly Contradiction[] }

/**
 * Writes down what was read of a report, once.
 * @returns undefined where it had been before, or where the certification is gone
 * @throws WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function recordReading(writing: Writing, report: ReadReport): Promise<Recorded | undefined> {
  const { diamond, certification, reading, correlation, causation, trace } = report
  const origin = {
    actor: 'reports',
    via: 'projection',
    correlation,
    causation,
    ...(trace !== undefined && { trace }),
  } as const
  const wish = { stream: diamondStream(diamond), id: `report-read/${certification}`, origin }
  const { state, events } = await handle(writing, wish, diamondDecider, (found) =>
    decide(found, certification, reading),
  )
  const read = certificationOf(state, certification)
  if (events.length === 0 || state.status !== 'live' || read === undefined) return undefined
  return { contradictions: contradictionsOf(read, state.fields) }
}
