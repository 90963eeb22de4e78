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

/** What an owner reads for the types of events: in the API, whose names are given out once and never change, and on pages. */
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

/** The API's name for each type of event. */
export const API_EVENT_TYPES = Object.fromEntries(
  Object.entries(EVENT_LABELS).map(([event, { type }]) => [event, type]),
) as {
  readonly [Event in keyof EventLabels]: EventLabels[Event]['type']
}

/** What pages call an entry of a history. @param type as the API has it */
export const titleOf = (type: string): string =>
  Object.values(EVENT_LABELS).find((words) => words.type === type)?.title ?? type

/** All that happened to a diamond, oldest first; what it shows of each is made when it is asked for. */
export type DiamondHistory = {
  readonly transitions: readonly DiamondTransition[]
  /** As it was last, also of a deleted one; undefined where there never was one that can be understood. */
  readonly lastView: DiamondView | undefined
  readonly isLive: boolean
}

/** @throws StoreUnavailable */
export async function readDiamondHistory(store: Pick<EventStore, 'read'>, id: number): Promise<DiamondHistory> {
  const steps = [...foldTransitions(id, await readDiamondEvents(store, id))]
  const last = steps.findLast(({ after }) => after !== undefined)?.after
  return { transitions: steps, lastView: last, isLive: steps.at(-1)?.after !== undefined }
}

/** An entry of a diamond's history; pure. @param by who did it: `Who` */
export function toHistoryEntry(step: DiamondTransition, by: HistoryActor | null): HistoryEntry {
  const { event, before, after } = step
  const { stream, type, metadata } = event
  const common = {
    stream,
    at: formatEventTime(event),
    by,
    request: metadata['$correlationId'] ?? '',
    ...operatorFieldsOf(event),
  }
  const fault = faultOf(step)
  if (fault !== undefined) {
    const undecoded = fault instanceof Error ? fault.message : String(fault)
    return { ...common, revision: Number(event.revision), type, changes: [], undecoded }
  }
  return { ...common, revision: revisionOf(event), type: typeOf(type), changes: changesBetweenViews(before, after) }
}

/** Why an event can't be understood; one that changes nothing any more is not looked at in folding, but here. */
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

/** Scores have the revision of the diamond that they were computed for. */
const revisionOf = (event: StoredEvent) =>
  isScoresEvent(event) && event.type === 'DiamondScored'
    ? decode<DiamondScored>(event).data.revision
    : Number(event.revision)

/** What differs between two views of a diamond, in v4 form. */
const changesBetweenViews = (before: DiamondView | undefined, after: DiamondView | undefined): FieldChange[] =>
  changesBetween(comparableStateOf(before), comparableStateOf(after))

/** Without what it is named by, and without scores until one has been computed. */
function comparableStateOf(view: DiamondView | undefined): HistoryState {
  if (view === undefined) return null
  const { id: _id, date: _date, _links, scores, ...fields } = diamondBody(view)
  const { model } = view.diamond
  return {
    ...fields,
    model: model === undefined ? null : stoneModelRepresentation(model, view.diamond.fields),
    scores: view.scores === null ? null : scores,
  }
}

/** A diamond as it was at some time; undefined where there was none. @param until milliseconds since 1970, included */
export function viewAt({ transitions }: DiamondHistory, until: number): DiamondView | undefined {
  const events = transitions.map(({ event }) => event)
  return transitions[eventsUntil(events, until).length - 1]?.after
}

/** A diamond in v4 names and values; null where there was none. */
export const stateOf = (view: DiamondView | undefined): HistoryState => {
  if (view === undefined) return null
  const { _links, ...state } = diamondBody(view)
  return state
}

/** What differs between two times, in milliseconds since 1970, each included. */
export const changesBetweenTimes = (past: DiamondHistory, from: number, to: number): FieldChange[] =>
  changesBetweenViews(viewAt(past, from), viewAt(past, to))
