import { z } from 'zod'
import { first } from './event-schema.ts'

export const linkKeySchemas = {
  LinkKeySealed: first(
    z.object({
      key: z.string().describe('id of the master key'),
      sealed: z.string().describe('nonce, AES-256-GCM ciphertext and tag, base64url'),
      since: z.int().optional().describe('milliseconds since 1970, UTC, where it took the place of another key'),
    }),
  ),
}
