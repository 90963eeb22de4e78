import { z } from 'zod'
import { first } from './event-schema.ts'

export const restoringSchemas = {
  LogRestored: first(z.object({ epoch: z.int().min(1).describe('higher than any that the log has had') })),
}
