import { z } from 'zod'
import type { EventSchema } from './registry.ts'

export const linkKeySchemas: Readonly<Record<string, EventSchema>> = {
  LinkKeySealed: { version: 1, payload: z.object({ key: z.string(), sealed: z.string() }), upcasters: [] },
}
