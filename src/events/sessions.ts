import { z } from 'zod'
import { first } from './event-schema.ts'

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
export const sessionSchemas = {
  SessionOpened: first(rotation.extend({ from: z.string().optional() })),
  TokenRefreshed: first(rotation),
  RefreshReused: first(z.object({ at })),
  SessionRevoked: first(z.object({ at, reason: z.enum(['reuse', 'request']) })),
  AccessTokenRevoked: first(z.object({ at, number: z.int().min(0) })),
}
