import { z } from 'zod'
import type { EventSchema } from './registry.ts'

const copy = z.string()
const of = (payload: z.ZodType<object>): EventSchema => ({ version: 1, payload, upcasters: [] })

export const movingSchemas: Readonly<Record<string, EventSchema>> = {
  LogFenced: of(z.object({ copy, to: z.string() })),
  LogOpened: of(z.object({ copy })),
  CopyBegun: of(z.object({ copy, from: z.string(), log: z.string() })),
  CopyDone: of(z.object({ copy, events: z.int().min(0), digest: z.string() })),
  CopyAbandoned: of(z.object({ copy })),
}
