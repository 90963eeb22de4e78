import type { StoredEvent } from '../stores/ports/event-store.ts'
import { decode, isUndecodable, NewerSchema } from './decode.ts'
import { EVENTS } from './registry.ts'

/** What stands in their place, so that a reader sees that there is something. */
export const NOT_SHOWN = '(not shown)'

/** An event's payload as people and their tools may see it. */
export function shownData(type: string, data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const unshown = EVENTS[type]?.notShown ?? []
  if (unshown.length === 0) return data
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, unshown.includes(name) ? NOT_SHOWN : value]),
  )
}

/** An event for people and their tools. */
export type ShownEvent = {
  /** Without what lets nobody in but helps who guesses. */
  readonly data: Readonly<Record<string, unknown>>
  /** Why this release does not understand it; undefined where it does. */
  readonly undecoded: string | undefined
}

/**
 * An event as people and their tools may see it. Of what a newer release wrote only the members' names are shown: which
 * of them are nobody's business is not known here.
 */
export function shownEvent(event: StoredEvent): ShownEvent {
  const { type, data } = event
  try {
    decode(event)
    return { data: shownData(type, data), undecoded: undefined }
  } catch (error) {
    if (!isUndecodable(error)) throw error
    const isNewer = error instanceof NewerSchema
    return { data: isNewer ? namesOnly(data) : shownData(type, data), undecoded: error.message }
  }
}

const namesOnly = (data: StoredEvent['data']) => Object.fromEntries(Object.keys(data).map((name) => [name, NOT_SHOWN]))
