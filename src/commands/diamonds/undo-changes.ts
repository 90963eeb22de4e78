import {
  diamondDecider,
  diamondStream,
  patch,
  remove,
  type Diamond,
  type DiamondEvent,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import {
  DEFAULTS,
  FIELD_NAMES,
  type DiamondFieldChanges,
  type NewDiamond,
  type OptionalField,
} from '../../domain/diamond/fields.ts'
import type { EventStore, Position, StoredEvent } from '../../stores/ports/event-store.ts'
import { handleBulk } from '../bulk/handle-bulk.ts'
import { eventTimeOf } from '../../events/event-metadata.ts'
import { foldEvents } from '../../events/load-stream.ts'
import { permanentRecordOf } from './change-stock.ts'
import { decideCreations, type CommandPrincipal, type DiamondCommandContext } from './diamonds.ts'

/** How to undo the changes that one correlation id made to a diamond. */
export type DiamondUndoAction =
  /** There were no changes, or none is left. */
  | { readonly kind: 'nothing' }
  /** It was created by the change. */
  | { readonly kind: 'delete'; readonly events: readonly DiamondEvent[] }
  /** Restores the previous field values. */
  | { readonly kind: 'change'; readonly events: readonly DiamondEvent[] }
  /** It was deleted by the change and is created again under a new id. */
  | { readonly kind: 'create'; readonly fields: NewDiamond }
  /** It was changed by someone else since, and is left alone. */
  | { readonly kind: 'changed since'; readonly sku: string; readonly by: string; readonly at: string }

/**
 * @param stored all events of a diamond's stream
 * @param correlation the correlation id to undo: its events in a stream were appended together
 */
function decideUndo(stored: readonly StoredEvent[], correlation: string): DiamondUndoAction {
  const first = stored.findIndex((event) => hasCorrelation(event, correlation))
  if (first < 0) return { kind: 'nothing' }
  const last = stored.findLastIndex((event) => hasCorrelation(event, correlation))
  const before = foldEvents(diamondDecider, stored.slice(0, first))
  const after = foldEvents(diamondDecider, stored.slice(0, last + 1))
  const now = foldEvents(diamondDecider, stored)
  if (!isUnchanged(after, now)) return refuseUndo(before, after, now, stored.at(-1))
  if (now.status !== 'live')
    return before.status === 'live' ? { kind: 'create', fields: before.fields } : { kind: 'nothing' }
  const { id, owner } = now
  if (before.status !== 'live') return { kind: 'delete', events: remove(now, id, owner) }
  const events = patch(now, id, owner, revertingChange(before, now))
  return events.length === 0 ? { kind: 'nothing' } : { kind: 'change', events }
}

/** Whether fields and certifications are the same. Reverted changes and report readings do not count as changes. */
function isUnchanged(after: Diamond, now: Diamond): boolean {
  if (after.status !== 'live' || now.status !== 'live') return after.status === now.status
  const ids = ({ certifications }: LiveDiamond) => certifications.map(({ id }) => id).join()
  return FIELD_NAMES.every((name) => after.fields[name] === now.fields[name]) && ids(after) === ids(now)
}

const hasCorrelation = ({ metadata }: StoredEvent, correlation: string) => metadata['$correlationId'] === correlation

function refuseUndo(before: Diamond, after: Diamond, now: Diamond, since: StoredEvent | undefined): DiamondUndoAction {
  // The change created the diamond and it has been deleted since, so there is nothing to undo.
  if (before.status !== 'live' && now.status !== 'live') return { kind: 'nothing' }
  const { sku } = after.status === 'live' ? after.fields : { sku: '' }
  const { actor = '', at = '' } = since?.metadata ?? {}
  return { kind: 'changed since', sku, by: actor, at }
}

function revertingChange({ fields: wanted }: LiveDiamond, { fields: found }: LiveDiamond): DiamondFieldChanges {
  const differing = FIELD_NAMES.filter((name) => wanted[name] !== found[name])
  const unset = differing.filter((name) => name in DEFAULTS && wanted[name] === DEFAULTS[name as OptionalField])
  const set = differing.filter((name) => !unset.includes(name)).map((name) => [name, wanted[name]] as const)
  return { set: Object.fromEntries(set), removed: unset as OptionalField[] }
}

export type DiamondUndoConflict = Extract<DiamondUndoAction, { kind: 'changed since' }> & { readonly id: number }

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

/** The diamonds that can't be restored without undoing a later change by someone else. @throws StoreUnavailable */
export async function findUndoConflicts(
  store: EventStore,
  { correlation, diamonds }: DiamondUndoRequest,
): Promise<DiamondUndoConflict[]> {
  const found = await loadUndoCandidates(store, { correlation, diamonds })
  return found.flatMap(({ id, action }) => (action.kind === 'changed since' ? [{ id, ...action }] : []))
}

/**
 * Undoes the changes that one correlation id made to these diamonds, all or none, and stores a record. Diamonds that
 * were changed by someone else since are left alone.
 * @throws AlreadyApplied, WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export const undoChanges = (
  context: DiamondCommandContext,
  { owner, origin }: CommandPrincipal,
  wanted: DiamondUndoRequest,
): Promise<DiamondUndoResult> =>
  handleBulk(context, {
    origin,
    diamonds: wanted.diamonds,
    once: { ...permanentRecordOf(wanted.record), recordsNoChange: true },
    async decide(now) {
      const found = await loadUndoCandidates(context.store, wanted)
      const lost = found.flatMap(({ action }) => (action.kind === 'create' ? [action.fields] : []))
      const born = (await decideCreations(context, owner, lost, now)).decisions
      const changes = found.flatMap(({ id, action, revision, at }) =>
        action.kind === 'delete' || action.kind === 'change'
          ? [{ stream: diamondStream(id), expected: revision, at, events: action.events }]
          : [],
      )
      const of = (kind: DiamondUndoAction['kind']) => found.filter(({ action }) => action.kind === kind).length
      const result = {
        created: of('create'),
        changed: of('change'),
        deleted: of('delete'),
        unchanged: of('nothing'),
        refused: of('changed since'),
      }
      return { decisions: [...born, ...changes], result }
    },
  })

type DiamondUndoCandidate = {
  readonly id: number
  readonly action: DiamondUndoAction
  readonly revision: bigint
  readonly at: number
}

const loadUndoCandidates = (
  store: EventStore,
  { correlation, diamonds }: Omit<DiamondUndoRequest, 'record'>,
): Promise<DiamondUndoCandidate[]> =>
  Promise.all(
    diamonds.map(async (id) => {
      const stored = await store.read(diamondStream(id))
      const last = stored.at(-1)
      return { id, action: decideUndo(stored, correlation), revision: last?.revision ?? 0n, at: eventTimeOf(last) }
    }),
  )
