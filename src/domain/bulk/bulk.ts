import { z } from 'zod'
import { declareEvents, type EventOf, type SchemaOutput } from '../event.ts'

const body = z.string().describe('digest of the request')
const diamonds = z.array(z.int().min(1)).describe('ids of the diamonds that are created or changed')
const event = z.object({
  id: z.uuid(),
  type: z.string(),
  schema: z.string().optional().describe("version of the event's payload; 1 if absent"),
  data: z.record(z.string(), z.unknown()),
})
/** The events for one stream, and the revision of the stream at which they were decided. */
const change = z.object({
  stream: z.string(),
  expected: z.int().min(0).nullable().describe('expected revision of the stream; null if it does not exist'),
  events: z.array(event).min(1),
})
const part = z.int().min(1).describe('counted from 1')

export type PlannedStreamAppend = SchemaOutput<typeof change>

/**
 * A bulk request that is too large for one append. After it is accepted, this process or another one completes it. It is split
 * into parts if one event would be too large, and is accepted with the last part.
 */
export const bulkRequestEvents = declareEvents('request-{digest}', {
  RequestAccepted: {
    about: 'A bulk request was accepted and will be completed even if the process crashes. One event per part.',
    payload: z.object({ body, diamonds, part, parts: part, changes: z.array(change) }),
  },
  RequestDone: {
    about: 'A bulk request, or a request with an Idempotency-Key, was completed.',
    payload: z.object({ body, diamonds }),
  },
})
export type RequestAccepted = EventOf<typeof bulkRequestEvents, 'RequestAccepted'>
export type RequestDone = EventOf<typeof bulkRequestEvents, 'RequestDone'>

/** How long a repeated Idempotency-Key returns the first response: 24 hours, in milliseconds. */
export const IDEMPOTENCY_KEY_TTL_MS = 24 * 60 * 60 * 1000
