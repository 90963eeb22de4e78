import { traceIdOf } from '../../events/event-metadata.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'

/** One field whose shown value differs; null where there was nothing to show, or there is nothing now. */
export type FieldChange = { readonly field: string; readonly from: unknown; readonly to: unknown }

/** A thing as it was shown at some time, by its members; null where there was no such thing. */
export type HistoryState = Readonly<Record<string, unknown>> | null

/**
 * What differs between two states, in the order of their members. Of a list of things that have ids each that differs is a
 * change of its own, as a whole. A thing that comes into being or goes shows all that is not null.
 */
export function changesBetween(before: HistoryState, after: HistoryState): FieldChange[] {
  const fields = new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})])
  return [...fields].flatMap((field) => changesOf(field, before?.[field] ?? null, after?.[field] ?? null))
}

function changesOf(field: string, from: unknown, to: unknown): FieldChange[] {
  if (!isListOfItems(from) || !isListOfItems(to)) return isSame(from, to) ? [] : [{ field, from, to }]
  const [before, after] = [byId(from), byId(to)]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [was, is] = [before.get(id) ?? null, after.get(id) ?? null]
    return isSame(was, is) ? [] : [{ field, from: was, to: is }]
  })
}

type IdentifiedItem = { readonly id: unknown }

const isIdentifiedItem = (value: unknown): value is IdentifiedItem =>
  typeof value === 'object' && value !== null && 'id' in value

/** A list of things; also an empty one, and none at all, beside which the other one decides. */
const isListOfItems = (value: unknown) => value === null || (Array.isArray(value) && value.every(isIdentifiedItem))

const byId = (value: unknown) =>
  new Map(Array.isArray(value) ? value.map((thing: IdentifiedItem) => [thing.id, thing]) : [])

/** Both come from one writer: equal values have equal texts. */
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Who wanted something, by names that people know. */
export type HistoryActor = {
  /** An e-mail address; null where it was no account, or one that is not known any more. */
  readonly account: string | null
  /** The name of the OAuth client; null where there was none, and in events of releases that did not note it. */
  readonly client: string | null
  readonly via: string
}

/** One thing that happened, as an owner and an auditor read it. */
export type HistoryEntry = {
  readonly stream: string
  readonly revision: number
  /** `2026-11-22T13:00:00+00:00` */
  readonly at: string
  readonly type: string
  /** null for what the service did by itself. */
  readonly by: HistoryActor | null
  /** The request's id, or that of a command's run. */
  readonly request: string
  readonly changes: readonly FieldChange[]
  /** The id of the trace that the request was a part of. For operators. */
  readonly trace?: string
  /** In words, what no field shows. */
  readonly detail?: string
  /** Who ran the command that wrote it: the operating system's user. For operators. */
  readonly osUser?: string
  /** Why the event can't be understood here; it has no changes then, and its type is the stored one. */
  readonly undecoded?: string
}

/** What operators read beside it: who ran the command, and the trace that it was a part of. */
export function operatorFieldsOf({ metadata }: Pick<StoredEvent, 'metadata'>): Pick<HistoryEntry, 'osUser' | 'trace'> {
  const { osUser, traceparent } = metadata
  return {
    ...(osUser !== undefined && { osUser }),
    ...(traceparent !== undefined && { trace: traceIdOf(traceparent) }),
  }
}

/** When an event was written, in whole seconds, as bodies show times. */
export function formatEventTime({ metadata }: Pick<StoredEvent, 'metadata'>): string {
  const at = metadata['at'] ?? ''
  return Number.isNaN(Date.parse(at)) ? at : formatSeconds(Math.floor(Date.parse(at) / 1000))
}

/** @param seconds since 1970, UTC */
export const formatSeconds = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+00:00`
