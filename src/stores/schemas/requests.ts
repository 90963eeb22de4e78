import { z } from 'zod'
import type { EventSchema } from './registry.ts'

const body = z.string()
const diamonds = z.array(z.int().min(1))
const event = z.object({ id: z.uuid(), type: z.string(), data: z.record(z.string(), z.unknown()) })
const change = z.object({ stream: z.string(), expected: z.int().min(0).nullable(), events: z.array(event).min(1) })
const part = z.int().min(1)

export const requestSchemas: Readonly<Record<string, EventSchema>> = {
  RequestAccepted: {
    version: 1,
    payload: z.object({ body, diamonds, part, parts: part, changes: z.array(change) }),
    upcasters: [],
  },
  RequestDone: { version: 1, payload: z.object({ body, diamonds }), upcasters: [] },
}
