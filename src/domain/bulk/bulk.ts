import { z } from 'zod'
import { declareEvents, type EventOf, type SchemaOutput } from '../event.ts'

const body = z.string().describe('digest of what was asked for')
const diamonds = z.array(z.int().min(1)).describe('ids of what it makes or changes')
const event = z.object({
  id: z.uuid(),
  type: z.string(),
  schema: z.string().optional().describe("version of the event's payload; 1 where it is not told"),
  data: z.record(z.string(), z.unknown()),
})
/** Events of one stream, with the revision that the stream had when they were decided. */
const change = z.object({
  stream: z.string(),
  expected: z.int().min(0).nullable().describe('revision of the stream before; null for none'),
  events: z.array(event).min(1),
})
const part = z.int().min(1).describe('counted from 1')

export type PlannedStreamAppend = SchemaOutput<typeof change>

/**
 * A bulk that is too large for one write: once it is accepted, this process or another one carries it out. It is divided into
 * parts where one event would be too large, and is accepted with the last of them.
 */
export const bulkRequestEvents = declareEvents('request-{digest}', {
  RequestAccepted: {
    about:
      'A bulk was accepted, and will be carried out whatever happens to the process: one event for each part of it.',
    payload: z.object({ body, diamonds, part, parts: part, changes: z.array(change) }),
  },
  RequestDone: {
    about: 'What was asked for under an Idempotency-Key, or a bulk, was carried out.',
    payload: z.object({ body, diamonds }),
  },
})
export type RequestAccepted = EventOf<typeof bulkRequestEvents, 'RequestAccepted'>
export type RequestDone = EventOf<typeof bulkRequestEvents, 'RequestDone'>

/** For so long the same key gives the first answer again: 24 hours, in milliseconds. */
export const IDEMPOTENCY_KEY_TTL_MS = 24 * 60 * 60 * 1000
