import { z } from 'zod'
import { PLANS } from '../domain/account/account.ts'
import { first } from './event-schema.ts'

const account = z.int().min(1).describe('id of the account')
const plan = z.enum(PLANS)
const epoch = z.int().min(1).describe('counts what ended the tokens: those of an earlier epoch are dead')
const password = z.string().describe('bcrypt hash')
const token = z.string().describe('id of the token')
const at = z.int().describe('milliseconds since 1970, UTC')
export const accountSchemas = {
  LoginReserved: first(z.object({ account, email: z.string() })),
  AccountRegistered: first(z.object({ email: z.string(), password, plan })),
  PasswordChanged: first(z.object({ password, epoch })),
  PlanChanged: first(z.object({ plan })),
  AccountDisabled: first(z.object({ epoch })),
  AccountEnabled: first(z.object({})),
  ApiTokenIssued: first(
    z.object({
      token,
      digest: z.string().describe('SHA-256 of the token'),
      at,
      expiresAt: at.optional().describe('milliseconds since 1970, UTC; without it the token lives until it is ended'),
    }),
  ),
  ApiTokenUsed: first(z.object({ at })),
  ApiTokenRevoked: first(z.object({ token })),
}
