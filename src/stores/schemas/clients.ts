import { z } from 'zod'
import type { EventSchema } from './registry.ts'

const first = (payload: z.ZodType<object>): EventSchema => ({ version: 1, payload, upcasters: [] })

export const clientSchemas: Readonly<Record<string, EventSchema>> = {
  ClientRegistered: first(z.object({ name: z.string(), secret: z.string() })),
  ClientSecretRotated: first(z.object({ secret: z.string() })),
  ClientDisabled: first(z.object({ epoch: z.int().min(1) })),
  ClientEnabled: first(z.object({})),
}
