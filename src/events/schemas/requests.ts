import { z } from 'zod'
import { first } from './event-schema.ts'

const body = z.string().describe('digest of what was asked for')
const diamonds = z.array(z.int().min(1)).describe('ids of what it makes or changes')
const event = z.object({
  id: z.uuid(),
  type: z.string(),
  schema: z.string().optional().describe("version of the event's payload; 1 where it is not told"),
  data: z.record(z.string(), z.unknown()),
})
const change = z.object({
  stream: z.string(),
  expected: z.int().min(0).nullable().describe('revision of the stream before; null for none'),
  events: z.array(event).min(1),
})
const part = z.int().min(1).describe('counted from 1')

export const requestSchemas = {
  RequestAccepted: first(z.object({ body, diamonds, part, parts: part, changes: z.array(change) })),
  RequestDone: first(z.object({ body, diamonds })),
}
