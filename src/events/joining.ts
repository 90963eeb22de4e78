import { z } from 'zod'
import { first } from './event-schema.ts'

export const joiningSchemas = {
  StoresJoined: first(z.object({ vault: z.string(), files: z.string(), place: z.string() })),
}
