import { z } from 'zod'
import { first } from './event-schema.ts'

export const clientSchemas = {
  ClientRegistered: first(z.object({ name: z.string(), secret: z.string() })),
  ClientSecretRotated: first(z.object({ secret: z.string() })),
  ClientDisabled: first(z.object({ epoch: z.int().min(1) })),
  ClientEnabled: first(z.object({})),
}
