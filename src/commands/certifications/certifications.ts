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
  findCertification,
  detach,
  diamondFold,
  diamondStream,
  requireOwnedDiamond,
  recordReportReading as decide,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/event-metadata.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { FileUpload, StoredFile } from '../../stores/ports/file-store.ts'
import { handleIdempotent } from '../bulk/handle-idempotent.ts'
import type { IdempotencyKey } from '../bulk/request-record.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import { ensureHeldFile, withFileHold } from '../core/file-holds.ts'
import { foldEvents } from '../../events/load-stream.ts'
import type { CommandPrincipal } from '../diamonds/diamonds.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'

export type CertificationCommandContext = CommandContext & { readonly certificationIds: IdAllocator }

type AttachOptions = {
  readonly file?: ReceivedFile | undefined
  /** The certification that is removed at the same time. */
  readonly replaces?: number | undefined
  /** From Idempotency-Key: a repeated request returns the first certification. */
  readonly key?: IdempotencyKey | undefined
}

/** A report's file, completely received and validated. */
export type ReceivedFile = { readonly incoming: FileUpload; readonly name: string | null }

type AttachedCertification = {
  readonly certification: CertificationAttached['data']
  /** The diamond including the new certification. */
  readonly diamond: LiveDiamond
  readonly position: Position | undefined
}

type CertificationInputWithFile = CertificationInput & {
  readonly file: ReportFile | null
  readonly replaces?: number
}

/**
 * Attaches a report to a diamond. The file is durable and held before the event is appended, and the event before the
 * response is sent. After the append the file is checked again, so an acknowledged certification always has its file.
 * @throws RequestError 'missing', 'forbidden', 'invalid' if the key was used with a different body; WrongRevision,
 *   OutcomeUnknown, StoreUnavailable
 */
export async function attachCertification(
  context: CertificationCommandContext,
  principal: CommandPrincipal,
  input: CertificationInput,
  { file, replaces, key }: AttachOptions = {},
): Promise<AttachedCertification> {
  const { diamond } = input
  const stream = diamondStream(diamond)
  if (key === undefined)
    requireOwnedDiamond(
      (await context.stateCache.load(context.store, stream, diamondFold)).state,
      diamond,
      principal.owner,
    )
  const heldFile = await file?.incoming.keep()
  return withFileHold(heldFile === undefined ? [] : [heldFile], () => {
    const reportFile =
      heldFile === undefined ? null : { digest: heldFile.digest, bytes: heldFile.bytes, name: file?.name ?? null }
    const inputWithFile = { ...input, file: reportFile, ...(replaces !== undefined && { replaces }) }
    if (key === undefined) return attachWithCommandId(context, principal, inputWithFile, randomUUID(), heldFile)
    const request = { ...key, owner: principal.owner, body: inputWithFile }
    return handleIdempotent(context, request, {
      diamond,
      origin: principal.origin,
      execute: (commandId) => attachWithCommandId(context, principal, inputWithFile, commandId, heldFile),
      replay: (commandId) => replayAttachment(context, stream, commandId),
      compensate: ({ certification: { id } }) => compensateAttachment(context, { ...principal, stream, id }),
    })
  })
}

/** @param commandId events of an earlier attempt with the same id are found and not repeated */
async function attachWithCommandId(
  context: CertificationCommandContext,
  principal: CommandPrincipal,
  { diamond, laboratory, number, file, replaces }: CertificationInputWithFile,
  commandId: string,
  heldFile: StoredFile | undefined,
): Promise<AttachedCertification> {
  const { owner, origin } = principal
  const stream = diamondStream(diamond)
  const id = await context.certificationIds.take()
  const { state, events, position } = await handle(
    context,
    { stream, id: commandId, origin },
    diamondFold,
    (diamondState) => [
      ...(replaces === undefined ? [] : detach(diamondState, replaces, owner)),
      ...attach(diamondState, { diamond, owner }, id, { laboratory, number, file }),
    ],
  )
  const attached = events.find((event) => event.type === 'CertificationAttached')
  if (attached === undefined || state.status !== 'live') return replayAttachment(context, stream, commandId)
  await ensureHeldFile(heldFile, () => compensateAttachment(context, { ...principal, stream, id: attached.data.id }))
  return { certification: attached.data, diamond: state, position }
}

/**
 * The result of an earlier attachment, with the current diamond or, if it was deleted since, the diamond at that time.
 */
async function replayAttachment(
  { store }: CommandContext,
  stream: string,
  commandId: string,
): Promise<AttachedCertification> {
  const storedEvents = await store.readStream(stream)
  const index = storedEvents.findIndex(({ id }) => id === eventId(commandId, 0))
  const event = storedEvents[index]
  if (event === undefined) throw new Error(`${stream} has no event of the completed request`)
  const current = foldEvents(diamondFold, storedEvents)
  const diamond = current.status === 'live' ? current : foldEvents(diamondFold, storedEvents.slice(0, index + 1))
  if (diamond.status !== 'live') throw new Error(`${stream} has a certification but its diamond is ${diamond.status}`)
  return { certification: decode<CertificationAttached>(event).data, diamond, position: event.position }
}

type CertificationDetachment = CommandPrincipal & { readonly stream: string; readonly id: number }

const compensateAttachment = (
  context: CertificationCommandContext,
  { owner, origin, stream, id }: CertificationDetachment,
) => handle(context, { stream, origin }, diamondFold, (state) => detach(state, id, owner))

/**
 * Detaches a certification. Its file is garbage-collected once nothing refers to it.
 * @param diamond the diamond that it is attached to
 * @throws RequestError 'missing', 'forbidden'; WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function removeCertification(
  context: CommandContext,
  { owner, origin }: CommandPrincipal,
  { id, diamond }: { readonly id: number; readonly diamond: number },
): Promise<Position | undefined> {
  const target = { stream: diamondStream(diamond), origin }
  const { position } = await handle(context, target, diamondFold, (state) => detach(state, id, owner))
  return position
}

type ReportReadingEntry = {
  readonly diamond: number
  readonly certification: number
  readonly reading: ReportReading
  /** The correlation id of the request that attached the report, and the id of its event. */
  readonly correlation: string
  readonly causation: string
  readonly trace?: string
}

export type ReportReadingResult = { readonly contradictions: readonly Contradiction[] }

/**
 * Records what was read from a report, once.
 * @returns undefined if it was recorded before or the certification was removed
 * @throws WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export async function recordReading(
  context: CommandContext,
  report: ReportReadingEntry,
): Promise<ReportReadingResult | undefined> {
  const { diamond, certification, reading, correlation, causation, trace } = report
  const origin = {
    actor: 'reports',
    via: 'projection',
    correlation,
    causation,
    ...(trace !== undefined && { trace }),
  } as const
  const target = { stream: diamondStream(diamond), id: `report-read/${certification}`, origin }
  const { state, events } = await handle(context, target, diamondFold, (diamondState) =>
    decide(diamondState, certification, reading),
  )
  const updatedCertification = findCertification(state, certification)
  if (events.length === 0 || state.status !== 'live' || updatedCertification === undefined) return undefined
  return { contradictions: contradictionsOf(updatedCertification, state.fields) }
}
