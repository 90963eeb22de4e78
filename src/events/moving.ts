import { z } from 'zod'
import { first } from './event-schema.ts'

const copy = z.string()
export const movingSchemas = {
  LogCreated: first(z.object({ identity: z.string() })),
  LogFenced: first(z.object({ copy, to: z.string() })),
  LogOpened: first(z.object({ copy })),
  CopyBegun: first(z.object({ copy, from: z.string(), log: z.string() })),
  CopyDone: first(z.object({ copy, events: z.int().min(0), digest: z.string() })),
  CopyAbandoned: first(z.object({ copy })),
}
