import { z } from 'zod'
import { first } from './event-schema.ts'

export const personKeySchemas = {
  PersonKeySealed: first(
    z.object({
      key: z.string().describe('id of the master key'),
      sealed: z.string().describe('nonce, AES-256-GCM ciphertext and tag, base64url'),
    }),
  ),
}
