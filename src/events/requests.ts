import { z } from 'zod'
import { first } from './event-schema.ts'

const body = z.string()
const diamonds = z.array(z.int().min(1))
const event = z.object({
  id: z.uuid(),
  type: z.string(),
  schema: z.string().optional(),
  data: z.record(z.string(), z.unknown()),
})
const change = z.object({ stream: z.string(), expected: z.int().min(0).nullable(), events: z.array(event).min(1) })
const part = z.int().min(1)

export const requestSchemas = {
  RequestAccepted: first(z.object({ body, diamonds, part, parts: part, changes: z.array(change) })),
  RequestDone: first(z.object({ body, diamonds })),
}
