import { z } from 'zod'
import { first } from './event-schema.ts'

const at = z.int().describe('milliseconds since 1970, UTC')
const rotation = z.object({
  account: z.int().min(1).describe('id of the account'),
  accountEpoch: z.int().min(0),
  client: z.string().describe('id of the client'),
  clientEpoch: z.int().min(0),
  logEpoch: z.int().min(1).optional().describe('absent where the log was never restored'),
  digest: z.string().describe('SHA-256 of the refresh token'),
  number: z.int().min(0).describe('counts the rotations'),
  at,
  expiresAt: at.describe('when the refresh token ends: milliseconds since 1970, UTC'),
})
export const sessionSchemas = {
  SessionOpened: first(
    rotation.extend({
      from: z.string().optional().describe('marks the address of the log-in among those of its account'),
    }),
  ),
  TokenRefreshed: first(rotation),
  RefreshReused: first(z.object({ at })),
  SessionRevoked: first(z.object({ at, reason: z.enum(['reuse', 'request']) })),
  AccessTokenRevoked: first(z.object({ at, number: z.int().min(0) })),
}
