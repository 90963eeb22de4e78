import { z } from 'zod'
import { PLANS } from '../../domain/account/account.ts'
import { first, type Payload } from './event-schema.ts'

const account = z.int().min(1).describe('id of the account')
const plan = z.enum(PLANS)
const epoch = z.int().min(1).describe('counts what ended the tokens: those of an earlier epoch are dead')
const password = z.string().describe('bcrypt hash')
const token = z.string().describe('id of the token')
const at = z.int().describe('milliseconds since 1970, UTC')
const email = z.string().optional().describe('the address; only in events of version 1, none is written any more')
/** What a payload of version 1 has more stays as it is: those accounts have their address nowhere else. */
const withAddress = (data: Payload): Payload => data

export const accountSchemas = {
  LoginReserved: { version: 2, payload: z.object({ account, email }), upcasters: [withAddress] },
  LoginReleased: first(z.object({ account })),
  AccountRegistered: { version: 2, payload: z.object({ email, password, plan }), upcasters: [withAddress] },
  PasswordChanged: first(z.object({ password, epoch })),
  PlanChanged: first(z.object({ plan })),
  AccountDisabled: first(z.object({ epoch })),
  AccountEnabled: first(z.object({})),
  AccountForgotten: first(z.object({})),
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
