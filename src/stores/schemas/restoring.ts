import { z } from 'zod'
import type { EventSchema } from './registry.ts'

export const restoringSchemas: Readonly<Record<string, EventSchema>> = {
  LogRestored: { version: 1, payload: z.object({ epoch: z.int().min(1) }), upcasters: [] },
}
