import { z } from 'zod'
import { first } from './event-schema.ts'

export const linkKeySchemas = {
  LinkKeySealed: first(z.object({ key: z.string(), sealed: z.string(), since: z.int().optional() })),
}
