import type { DiamondEvent } from '../../domain/diamond/diamond.ts'
import type { DiamondScored } from '../../domain/diamond/scores.ts'
import { decode } from '../../events/decode.ts'
import { bodyValue } from '../../representations/diamond/value.ts'
import { shownModel } from '../../representations/stone-model.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import { isOfScores, type DiamondView } from '../diamonds/diamond-view.ts'
import { eventsUntil, readDiamond, stepsOf, type Step } from '../diamonds/diamond-steps.ts'
import { changesBetween, forOperators, shownTime, type By, type Change, type Entry, type State } from './entry.ts'

/** What an owner reads for the types of events: in the API, whose names are given out once and never change, and on pages. */
const WORDS = {
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

type Words = typeof WORDS

/** The API's name for each type of event. */
export const TYPES = Object.fromEntries(Object.entries(WORDS).map(([event, { type }]) => [event, type])) as {
  readonly [Event in keyof Words]: Words[Event]['type']
}

/** What pages call an entry of a history. @param type as the API has it */
export const titleOf = (type: string): string =>
  Object.values(WORDS).find((words) => words.type === type)?.title ?? type

/** All that happened to a diamond, oldest first; what it shows of each is made when it is asked for. */
export type DiamondPast = {
  readonly steps: readonly Step[]
  /** As it was last, also of a deleted one; undefined where there never was one that can be understood. */
  readonly last: DiamondView | undefined
  readonly isLive: boolean
}

/** @throws StoreUnavailable */
export async function readPast(store: Pick<EventStore, 'read'>, id: number): Promise<DiamondPast> {
  const steps = [...stepsOf(id, await readDiamond(store, id))]
  const last = steps.findLast(({ after }) => after !== undefined)?.after
  return { steps, last, isLive: steps.at(-1)?.after !== undefined }
}

/** An entry of a diamond's history; pure. @param by who did it: `Who` */
export function entryOf(step: Step, by: By | null): Entry {
  const { event, before, after } = step
  const { stream, type, metadata } = event
  const common = {
    stream,
    at: shownTime(event),
    by,
    request: metadata['$correlationId'] ?? '',
    ...forOperators(event),
  }
  const fault = faultOf(step)
  if (fault !== undefined) {
    const undecoded = fault instanceof Error ? fault.message : String(fault)
    return { ...common, revision: Number(event.revision), type, changes: [], undecoded }
  }
  return { ...common, revision: revisionOf(event), type: typeOf(type), changes: changesOf(before, after) }
}

/** Why an event can't be understood; one that changes nothing any more is not looked at in folding, but here. */
export function faultOf({ event, fault }: Step): unknown {
  if (fault !== undefined) return fault
  try {
    decode(event)
    return undefined
  } catch (error) {
    return error
  }
}

const typeOf = (type: string) => (Object.hasOwn(TYPES, type) ? TYPES[type as keyof typeof TYPES] : type)

/** Scores have the revision of the diamond that they were computed for. */
const revisionOf = (event: StoredEvent) =>
  isOfScores(event) && event.type === 'DiamondScored'
    ? decode<DiamondScored>(event).data.revision
    : Number(event.revision)

/** What differs between two views of a diamond, in v4 form. */
const changesOf = (before: DiamondView | undefined, after: DiamondView | undefined): Change[] =>
  changesBetween(comparedOf(before), comparedOf(after))

/** Without what it is named by, and without scores until one has been computed. */
function comparedOf(view: DiamondView | undefined): State {
  if (view === undefined) return null
  const { id: _id, date: _date, _links, scores, ...fields } = bodyValue(view)
  const { model } = view.diamond
  return {
    ...fields,
    model: model === undefined ? null : shownModel(model, view.diamond.fields),
    scores: view.scores === null ? null : scores,
  }
}

/** A diamond as it was at some time; undefined where there was none. @param until milliseconds since 1970, included */
export function viewAt({ steps }: DiamondPast, until: number): DiamondView | undefined {
  const events = steps.map(({ event }) => event)
  return steps[eventsUntil(events, until).length - 1]?.after
}

/** A diamond in v4 names and values; null where there was none. */
export const stateOf = (view: DiamondView | undefined): State => {
  if (view === undefined) return null
  const { _links, ...state } = bodyValue(view)
  return state
}

/** What differs between two times, in milliseconds since 1970, each included. */
export const changesFrom = (past: DiamondPast, from: number, to: number): Change[] =>
  changesOf(viewAt(past, from), viewAt(past, to))
