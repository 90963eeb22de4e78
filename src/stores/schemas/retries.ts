import { z } from 'zod'
import type { EventSchema } from './registry.ts'

export const retrySchemas: Readonly<Record<string, EventSchema>> = {
  RetryRequested: {
    version: 1,
    payload: z.object({ model: z.string(), streams: z.array(z.string()) }),
    upcasters: [],
  },
}
