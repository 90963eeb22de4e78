import type { DiamondEvent } from '../../domain/diamond/diamond.ts'
import type { DiamondScored } from '../../domain/diamond/scores.ts'
import { decode } from '../../events/decode.ts'
import { diamondBody } from '../../representations/diamond/display-value.ts'
import { stoneModelRepresentation } from '../../representations/stone-model.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import { isScoresEvent, type DiamondView } from '../diamonds/diamond-view.ts'
import {
  eventsUntil,
  readDiamondEvents,
  foldTransitions,
  type DiamondTransition,
} from '../diamonds/diamond-transitions.ts'
import {
  changesBetween,
  operatorFieldsOf,
  formatEventTime,
  type HistoryActor,
  type FieldChange,
  type HistoryEntry,
  type HistoryState,
} from './history-entry.ts'

/** Names of event types for owners: `type` in the API, stable once published, and `title` on pages. */
const EVENT_LABELS = {
  DiamondCreated: { type: 'created', title: 'Created' },
  DiamondPatched: { type: 'changed', title: 'Changed' },
  DiamondDeleted: { type: 'deleted', title: 'Deleted' },
  CertificationAttached: { type: 'certified', title: 'Certificate attached' },
  CertificationRemoved: { type: 'uncertified', title: 'Certificate removed' },
  StoneModelAttached: { type: 'modelled', title: '3D model attached' },
  StoneModelRemoved: { type: 'unmodelled', title: '3D model removed' },
  DiamondScored: { type: 'scored', title: 'Scored' },
  ReportRead: { type: 'read', title: 'Report read' },
} as const satisfies Readonly<Record<(DiamondEvent | DiamondScored)['type'], { type: string; title: string }>>

type EventLabels = typeof EVENT_LABELS

/** The API's name of each event type. */
export const API_EVENT_TYPES = Object.fromEntries(
  Object.entries(EVENT_LABELS).map(([event, { type }]) => [event, type]),
) as {
  readonly [Event in keyof EventLabels]: EventLabels[Event]['type']
}

/** The title of a history entry on pages. @param type as in the API */
export const titleOf = (type: string): string =>
  Object.values(EVENT_LABELS).find((labels) => labels.type === type)?.title ?? type

/** All transitions of a diamond, oldest first. Representations are computed on demand. */
export type DiamondHistory = {
  readonly transitions: readonly DiamondTransition[]
  /** The last known view, also of a deleted diamond; undefined if no event could be understood. */
  readonly lastView: DiamondView | undefined
  readonly isLive: boolean
}

/** @throws StoreUnavailable */
export async function readDiamondHistory(store: Pick<EventStore, 'readStream'>, id: number): Promise<DiamondHistory> {
  const transitions = [...foldTransitions(id, await readDiamondEvents(store, id))]
  const lastView = transitions.findLast(({ after }) => after !== undefined)?.after
  return { transitions, lastView, isLive: transitions.at(-1)?.after !== undefined }
}

/** Converts a transition to a history entry; pure. @param actor of the event */
export function toHistoryEntry(transition: DiamondTransition, actor: HistoryActor | null): HistoryEntry {
  const { event, before, after } = transition
  const { stream, type, metadata } = event
  const common = {
    stream,
    at: formatEventTime(event),
    by: actor,
    request: metadata['$correlationId'] ?? '',
    ...operatorFieldsOf(event),
  }
  const fault = faultOf(transition)
  if (fault !== undefined) {
    const undecoded = fault instanceof Error ? fault.message : String(fault)
    return { ...common, revision: Number(event.revision), type, changes: [], undecoded }
  }
  return { ...common, revision: revisionOf(event), type: typeOf(type), changes: changesBetweenViews(before, after) }
}

/** Why an event can't be understood. Events that no longer change anything are decoded only here, not while folding. */
export function faultOf({ event, fault }: DiamondTransition): unknown {
  if (fault !== undefined) return fault
  try {
    decode(event)
    return undefined
  } catch (error) {
    return error
  }
}

const typeOf = (type: string) =>
  Object.hasOwn(API_EVENT_TYPES, type) ? API_EVENT_TYPES[type as keyof typeof API_EVENT_TYPES] : type

/** A scores event carries the revision of the diamond that it was computed for. */
const revisionOf = (event: StoredEvent) =>
  isScoresEvent(event) && event.type === 'DiamondScored'
    ? decode<DiamondScored>(event).data.revision
    : Number(event.revision)

/** The fields that differ between two views of a diamond, in v4 form. */
const changesBetweenViews = (before: DiamondView | undefined, after: DiamondView | undefined): FieldChange[] =>
  changesBetween(comparableStateOf(before), comparableStateOf(after))

/** Without ids, links and what follows from other members, and without scores until one has been computed. */
function comparableStateOf(view: DiamondView | undefined): HistoryState {
  if (view === undefined) return null
  const { id: _id, date: _date, _links, proportionWarnings: _warnings, scores, ...fields } = diamondBody(view)
  const { model } = view.diamond
  return {
    ...fields,
    model: model === undefined ? null : stoneModelRepresentation(model, view.diamond.fields),
    scores: view.scores === null ? null : scores,
  }
}

/** A diamond as it was at a time; undefined if it did not exist. @param until milliseconds since 1970, inclusive */
export function viewAt({ transitions }: DiamondHistory, until: number): DiamondView | undefined {
  const events = transitions.map(({ event }) => event)
  return transitions[eventsUntil(events, until).length - 1]?.after
}

/** A diamond in v4 form; null if it did not exist. */
export const stateOf = (view: DiamondView | undefined): HistoryState => {
  if (view === undefined) return null
  const { _links, ...state } = diamondBody(view)
  return state
}

/** The fields that differ between two times, in milliseconds since 1970, both inclusive. */
export const changesBetweenTimes = (history: DiamondHistory, from: number, to: number): FieldChange[] =>
  changesBetweenViews(viewAt(history, from), viewAt(history, to))
