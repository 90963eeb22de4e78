import { z } from 'zod'
import { first } from './event-schema.ts'

export const retrySchemas = {
  RetryRequested: first(z.object({ model: z.string(), streams: z.array(z.string()) })),
}
