import { traceIdOf } from '../../events/event-metadata.ts'
import { formatTime } from '../../representations/json.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/** A field whose shown value differs; null means absent. */
export type FieldChange = { readonly field: string; readonly from: unknown; readonly to: unknown }

/** A resource as shown at a time, by member; null if it did not exist. */
export type HistoryState = Readonly<Record<string, unknown>> | null

/**
 * The differences between two states, in member order. In a list of items with ids, each changed item is one change, as
 * a whole. A created or deleted resource yields all its members that are not null.
 */
export function changesBetween(before: HistoryState, after: HistoryState): FieldChange[] {
  const fields = new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})])
  return [...fields].flatMap((field) => changesOf(field, before?.[field] ?? null, after?.[field] ?? null))
}

function changesOf(field: string, from: unknown, to: unknown): FieldChange[] {
  if (!isListOfItems(from) || !isListOfItems(to)) return isSame(from, to) ? [] : [{ field, from, to }]
  const [before, after] = [byId(from), byId(to)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [oldItem, newItem] = [before.get(id) ?? null, after.get(id) ?? null]
    return isSame(oldItem, newItem) ? [] : [{ field, from: oldItem, to: newItem }]
  })
}

type IdentifiedItem = { readonly id: unknown }

const isIdentifiedItem = (value: unknown): value is IdentifiedItem =>
  typeof value === 'object' && value !== null && 'id' in value

/** True also for null and an empty list, so that the other side decides. */
const isListOfItems = (value: unknown) => value === null || (Array.isArray(value) && value.every(isIdentifiedItem))

const byId = (value: unknown) =>
  new Map(Array.isArray(value) ? value.map((item: IdentifiedItem) => [item.id, item]) : [])

/** Both come from the same writer: equal values have equal JSON. */
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** The actor of an event, by display names. */
export type HistoryActor = {
  /** An e-mail address; null if the actor was no account, or one that is no longer known. */
  readonly account: string | null
  /** The name of the OAuth client; null without one, and for events of releases that did not record it. */
  readonly client: string | null
  readonly via: string
}

/** One event as owners and auditors see it. */
export type HistoryEntry = {
  readonly stream: string
  readonly revision: number
  /** `2026-11-22T13:00:00+00:00` */
  readonly at: string
  readonly type: string
  /** null for events of the service itself. */
  readonly by: HistoryActor | null
  /** The id of the request, or of the command's run. */
  readonly request: string
  readonly changes: readonly FieldChange[]
  /** The trace id of the request. For operators. */
  readonly trace?: string
  /** Text for what no field shows. */
  readonly detail?: string
  /** The operating system's user who ran the command that wrote the event. For operators. */
  readonly osUser?: string
  /** Why the event can't be understood; `changes` is then empty and `type` is the stored one. */
  readonly undecoded?: string
}

/** Additional fields for operators: the OS user who ran the command, and the trace id. */
export function operatorFieldsOf({ metadata }: Pick<StoredEvent, 'metadata'>): Pick<HistoryEntry, 'osUser' | 'trace'> {
  const { osUser, traceparent } = metadata
  return {
    ...(osUser !== undefined && { osUser }),
    ...(traceparent !== undefined && { trace: traceIdOf(traceparent) }),
  }
}

/** When an event was written, in whole seconds, in the format of response bodies. */
export function formatEventTime({ metadata }: Pick<StoredEvent, 'metadata'>): string {
  const at = metadata['at'] ?? ''
  return Number.isNaN(Date.parse(at)) ? at : formatTime(Date.parse(at))
}
