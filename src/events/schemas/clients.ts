import { z } from 'zod'
import { first } from './event-schema.ts'

const secret = z.string().describe('SHA-256 of the secret')

export const clientSchemas = {
  ClientRegistered: first(z.object({ name: z.string(), secret })),
  ClientSecretRotated: first(z.object({ secret })),
  ClientDisabled: first(
    z.object({ epoch: z.int().min(1).describe('counts what ended the tokens: those of an earlier epoch are dead') }),
  ),
  ClientEnabled: first(z.object({})),
}
