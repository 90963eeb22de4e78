import {
  certificationAttachedEvent,
  certificationRemovedEvent,
  type Certification,
} from '../../domain/certification/certification.ts'
import type { NewStone } from '../../domain/certification/stated-report.ts'
import {
  diamondFold,
  diamondStream,
  patch,
  remove,
  type Diamond,
  type DiamondEvent,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import { DEFAULTS, FIELD_NAMES, type DiamondFieldChanges, type OptionalField } from '../../domain/diamond/fields.ts'
import type { EventStore, Position, StoredEvent } from '../../stores/ports/event-store.ts'
import { handleBulk } from '../bulk/handle-bulk.ts'
import { eventTimeOf } from '../../events/event-metadata.ts'
import { foldEvents } from '../../events/load-stream.ts'
import { decideNewStones, permanentRecordOf, type StockCommandContext } from './change-stock.ts'
import type { CommandPrincipal } from './diamonds.ts'

/** How to undo the changes that one correlation id made to a diamond. */
type DiamondUndoAction =
  /** There were no changes, or none is left. */
  | { readonly kind: 'nothing' }
  /** It was created by the change. */
  | { readonly kind: 'delete'; readonly events: readonly DiamondEvent[] }
  /** Restores the previous field values and certifications. */
  | { readonly kind: 'change'; readonly events: readonly DiamondEvent[] }
  /** It was deleted by the change and is created again under a new id. */
  | { readonly kind: 'create'; readonly stone: NewStone }
  /** It was changed by someone else since, and is left alone. */
  | { readonly kind: 'changed since'; readonly sku: string; readonly by: string; readonly at: string }

/**
 * Undoes the changes that one correlation id made to these diamonds, all or none, and stores a record. Diamonds that
 * were changed by someone else since are left alone.
 * @throws AlreadyApplied, WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export const undoChanges = (
  context: StockCommandContext,
  { owner, origin }: CommandPrincipal,
  request: DiamondUndoRequest,
): Promise<DiamondUndoResult> =>
  handleBulk(context, {
    origin,
    diamonds: request.diamonds,
    idempotency: { ...permanentRecordOf(request.record), recordsNoChange: true },
    async decide(now) {
      const candidates = await loadUndoCandidates(context.store, request)
      const diamondsToRecreate = candidates.flatMap(({ action }) => (action.kind === 'create' ? [action.stone] : []))
      const creationDecisions = await decideNewStones(context, owner, diamondsToRecreate, now)
      const changeDecisions = candidates.flatMap(({ id, action, revision, lastEventAt }) =>
        action.kind === 'delete' || action.kind === 'change'
          ? [{ stream: diamondStream(id), expected: revision, lastEventAt, events: action.events }]
          : [],
      )
      const countOf = (kind: DiamondUndoAction['kind']) =>
        candidates.filter(({ action }) => action.kind === kind).length
      const result = {
        created: countOf('create'),
        changed: countOf('change'),
        deleted: countOf('delete'),
        unchanged: countOf('nothing'),
        refused: countOf('changed since'),
      }
      return { decisions: [...creationDecisions, ...changeDecisions], result }
    },
  })

type DiamondUndoCandidate = {
  readonly id: number
  readonly action: DiamondUndoAction
  readonly revision: bigint
  readonly lastEventAt: number
}

const loadUndoCandidates = (
  store: EventStore,
  { correlation, diamonds }: Omit<DiamondUndoRequest, 'record'>,
): Promise<DiamondUndoCandidate[]> =>
  Promise.all(
    diamonds.map(async (id) => {
      const storedEvents = await store.readStream(diamondStream(id))
      const last = storedEvents.at(-1)
      return {
        id,
        action: decideUndo(storedEvents, correlation),
        revision: last?.revision ?? 0n,
        lastEventAt: eventTimeOf(last),
      }
    }),
  )

/**
 * @param storedEvents all events of a diamond's stream
 * @param correlation the correlation id to undo: its events in a stream were appended together
 */
function decideUndo(storedEvents: readonly StoredEvent[], correlation: string): DiamondUndoAction {
  const first = storedEvents.findIndex((event) => hasCorrelation(event, correlation))
  if (first < 0) return { kind: 'nothing' }
  const last = storedEvents.findLastIndex((event) => hasCorrelation(event, correlation))
  const before = foldEvents(diamondFold, storedEvents.slice(0, first))
  const after = foldEvents(diamondFold, storedEvents.slice(0, last + 1))
  const current = foldEvents(diamondFold, storedEvents)
  if (!isUnchanged(after, current)) return refuseUndo(before, after, current, storedEvents.at(-1))
  if (current.status !== 'live')
    return before.status === 'live' ? { kind: 'create', stone: stoneOf(before) } : { kind: 'nothing' }
  const { id, owner } = current
  if (before.status !== 'live') return { kind: 'delete', events: remove(current, id, owner) }
  const events = [
    ...patch(current, id, owner, revertingChange(before, current)),
    ...revertingCertificationEvents(before, current),
  ]
  return events.length === 0 ? { kind: 'nothing' } : { kind: 'change', events }
}

const hasCorrelation = ({ metadata }: StoredEvent, correlation: string) => metadata['$correlationId'] === correlation

/** Whether fields and certifications are the same. Reverted changes and report readings do not count as changes. */
function isUnchanged(after: Diamond, current: Diamond): boolean {
  if (after.status !== 'live' || current.status !== 'live') return after.status === current.status
  return (
    FIELD_NAMES.every((name) => after.fields[name] === current.fields[name]) &&
    certificationsWithout(after, current).length + certificationsWithout(current, after).length === 0
  )
}

/** The certifications of a diamond that it does not have in another state. */
const certificationsWithout = ({ certifications }: LiveDiamond, other: LiveDiamond): readonly Certification[] =>
  certifications.filter(({ id }) => other.certifications.every((one) => one.id !== id))

/** A deleted diamond's certificates with a PDF are not restored, since the file may be gone. */
const stoneOf = ({ fields, certifications }: LiveDiamond): NewStone => ({
  fields,
  reports: certifications.filter(hasNoFile),
})

const hasNoFile = ({ file }: Certification): boolean => file === null

/** A certification gets its previous id again, so that an earlier change can be undone next. */
const revertingCertificationEvents = (previous: LiveDiamond, current: LiveDiamond): readonly DiamondEvent[] => [
  ...certificationsWithout(current, previous).map(certificationRemovedEvent),
  ...certificationsWithout(previous, current)
    .filter(hasNoFile)
    .map((certification) => certificationAttachedEvent(certification.id, certification)),
]

function refuseUndo(
  before: Diamond,
  after: Diamond,
  current: Diamond,
  lastEvent: StoredEvent | undefined,
): DiamondUndoAction {
  // The change created the diamond and it has been deleted since, so there is nothing to undo.
  if (before.status !== 'live' && current.status !== 'live') return { kind: 'nothing' }
  const { sku } = after.status === 'live' ? after.fields : { sku: '' }
  const { actor = '', at = '' } = lastEvent?.metadata ?? {}
  return { kind: 'changed since', sku, by: actor, at }
}

function revertingChange({ fields: previous }: LiveDiamond, { fields: current }: LiveDiamond): DiamondFieldChanges {
  const differing = FIELD_NAMES.filter((name) => previous[name] !== current[name])
  const unset = differing.filter((name) => name in DEFAULTS && previous[name] === DEFAULTS[name as OptionalField])
  const set = differing.filter((name) => !unset.includes(name)).map((name) => [name, previous[name]] as const)
  return { set: Object.fromEntries(set), removed: unset as OptionalField[] }
}

export type DiamondUndoRequest = {
  /** The stream of a permanent record that keeps the undo from being applied twice. */
  readonly record: string
  readonly correlation: string
  readonly diamonds: readonly number[]
}

/** Numbers of diamonds. `refused`: changed by someone else since, and left alone. */
export type DiamondUndoResult = {
  readonly created: number
  readonly changed: number
  readonly deleted: number
  readonly unchanged: number
  readonly refused: number
  readonly position: Position | undefined
}

type DiamondUndoConflict = Extract<DiamondUndoAction, { kind: 'changed since' }> & { readonly id: number }

/** The diamonds that can't be restored without undoing a later change by someone else. @throws StoreUnavailable */
export async function findUndoConflicts(
  store: EventStore,
  { correlation, diamonds }: DiamondUndoRequest,
): Promise<DiamondUndoConflict[]> {
  const candidates = await loadUndoCandidates(store, { correlation, diamonds })
  return candidates.flatMap(({ id, action }) => (action.kind === 'changed since' ? [{ id, ...action }] : []))
}
