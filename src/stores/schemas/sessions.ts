import { z } from 'zod'
import type { EventSchema } from './registry.ts'

const at = z.int()
const rotation = z.object({
  account: z.int().min(1),
  accountEpoch: z.int().min(0),
  client: z.string(),
  clientEpoch: z.int().min(0),
  // Absent where the log was never restored.
  logEpoch: z.int().min(1).optional(),
  digest: z.string(),
  number: z.int().min(0),
  at,
  expiresAt: z.int(),
})
const first = (payload: z.ZodType<object>): EventSchema => ({ version: 1, payload, upcasters: [] })

export const sessionSchemas: Readonly<Record<string, EventSchema>> = {
  SessionOpened: first(rotation.extend({ from: z.string().optional() })),
  TokenRefreshed: first(rotation),
  RefreshReused: first(z.object({ at })),
  SessionRevoked: first(z.object({ at, reason: z.enum(['reuse', 'request']) })),
  AccessTokenRevoked: first(z.object({ at, number: z.int().min(0) })),
}
