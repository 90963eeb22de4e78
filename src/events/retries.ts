import { z } from 'zod'
import { first } from './event-schema.ts'

export const retrySchemas = {
  RetryRequested: first(
    z.object({
      model: z.string().describe('name of the read model or the reaction'),
      streams: z.array(z.string()).describe('at most 100'),
    }),
  ),
}
