import { z } from 'zod'
import { PLANS } from '../domain/account/account.ts'
import { first } from './event-schema.ts'

const account = z.int().min(1)
const plan = z.enum(PLANS)
const epoch = z.int().min(1)
export const accountSchemas = {
  LoginReserved: first(z.object({ account, email: z.string() })),
  AccountRegistered: first(z.object({ email: z.string(), password: z.string(), plan })),
  PasswordChanged: first(z.object({ password: z.string(), epoch })),
  PlanChanged: first(z.object({ plan })),
  AccountDisabled: first(z.object({ epoch })),
  AccountEnabled: first(z.object({})),
  ApiTokenIssued: first(
    z.object({ token: z.string(), digest: z.string(), at: z.int(), expiresAt: z.int().optional() }),
  ),
  ApiTokenUsed: first(z.object({ at: z.int() })),
  ApiTokenRevoked: first(z.object({ token: z.string() })),
}
