import type { z } from 'zod'

/** What an event says, as it is stored. */
export type Payload = Readonly<Record<string, unknown>>

/** One event type as it is stored. */
export type EventSchema<Checked extends z.ZodType<object> = z.ZodType<object>> = {
  /** The version that this release writes, counted from 1. */
  readonly version: number
  readonly payload: Checked
  /** upcasters[n] lifts a payload from version n + 1 to n + 2. */
  readonly upcasters: readonly ((data: Payload) => Payload)[]
}

/** The schema of a type whose shape has never changed. */
export const first = <Checked extends z.ZodType<object>>(payload: Checked): EventSchema<Checked> => ({
  version: 1,
  payload,
  upcasters: [],
})
