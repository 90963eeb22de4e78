import type { ApiCaller } from '../../commands/accounts/verify-api-token.ts'
import type { Origin } from '../../events/origin.ts'
import { Refusal } from '../../domain/refusal.ts'
import { basicCredentials } from '../kit/basic.ts'
import { originFor, patienceOf, type Ctx, type SecretSender, type Step } from '../kit/request.ts'

export type ApiTokens = {
  verify(shown: { email: string; token: string; address: string }): Promise<ApiCaller | undefined>
}

/**
 * Who showed Basic credentials, account and API token; undefined where none were shown. Bad credentials are not
 * anonymous: they are refused where none are needed too. Empty ones (`Og==`) count as none, for programs that always
 * send some.
 * @param header the request's Authorization
 * @throws Refusal unauthenticated, too-many
 */
export async function senderOf(
  tokens: ApiTokens,
  header: string | undefined,
  address: string,
): Promise<SecretSender | undefined> {
  const shown = credentialsOf(header)
  if (shown === undefined) return undefined
  const caller = await tokens.verify({ ...shown, address })
  if (caller === undefined) throw notAuthorized()
  return { ...caller, token: shown.token }
}

/** Reads who sends into `ctx.state.sender`. */
export const readSender =
  (tokens: ApiTokens): Step =>
  async (ctx, next) => {
    const sender = await patienceOf(ctx).during(() => senderOf(tokens, ctx.req.headers.authorization, ctx.ip))
    if (sender !== undefined) ctx.state.sender = sender
    return next()
  }

export const requireSender: Step = (ctx, next) => {
  demandSender(ctx.state.sender)
  return next()
}

/** @throws Refusal unauthenticated */
export function demandSender(sender: SecretSender | undefined): void {
  if (sender === undefined) throw notAuthorized()
}

/** Who asks, for what is shared among those who ask at once. */
export const askerOf = (ctx: Ctx) => ({ account: ctx.state.sender?.account, address: ctx.ip })

export const secretOriginOf = (ctx: Ctx): Origin => originFor(ctx.state.sender?.account, ctx.state.requestId)

function credentialsOf(header: string | undefined): { email: string; token: string } | undefined {
  if (header === undefined || header === '') return undefined
  const shown = basicCredentials(header)
  if (shown?.user === '' && shown.password === '') return undefined
  if (shown === undefined || shown.user === '' || shown.password === '') throw notAuthorized()
  return { email: shown.user, token: shown.password }
}

const notAuthorized = () => new Refusal('unauthenticated', 'Not authorized')
