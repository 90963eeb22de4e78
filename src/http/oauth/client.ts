import {
  ClientRefused,
  verifyClient,
  type ClientCheck,
  type VerifiedClient,
} from '../../commands/clients/verify-client.ts'
import type { Ctx, Step } from '../kit/request.ts'
import { OAuthError } from './errors.ts'
import { parametersOf } from './parameters.ts'

type Credentials = { readonly client: string; readonly secret: string }

/** Lets pass a client that shows its secret, by parameters or by Basic, into `ctx.state.client`. */
export function authenticateClient(check: ClientCheck): Step {
  return async (ctx, next) => {
    const basic = basicOf(ctx)
    try {
      ctx.state.client = await verifyClient(check, { ...credentialsOf(ctx, basic), address: ctx.ip })
    } catch (error) {
      const challenged = error instanceof ClientRefused && basic !== undefined
      if (challenged) ctx.set('WWW-Authenticate', 'Basic realm="adamant", charset="UTF-8"')
      throw error
    }
    return next()
  }
}

export function clientOf(ctx: Ctx): VerifiedClient {
  if (ctx.state.client === undefined) throw new Error(`${ctx.method} ${ctx.path} is not behind authenticateClient`)
  return ctx.state.client
}

/** RFC 6749, section 2.3: one way of authentication in a request, not more. */
function credentialsOf(ctx: Ctx, basic: Credentials | 'unreadable' | undefined): Credentials {
  const parameters = parametersOf(ctx)
  const client = parameters.get('client_id')
  const secret = parameters.get('client_secret')
  if (basic === 'unreadable') throw new ClientRefused('The Basic credentials are not readable')
  if (basic !== undefined) {
    if (secret !== undefined || (client !== undefined && client !== basic.client)) {
      throw new OAuthError('invalid_request', 'The client must authenticate in one way, by parameters or by Basic')
    }
    return basic
  }
  if (client === undefined) throw new ClientRefused('Client id was not found in the headers or body')
  if (secret === undefined) throw new ClientRefused()
  return { client, secret }
}

function basicOf(ctx: Ctx): Credentials | 'unreadable' | undefined {
  const header = ctx.req.headers.authorization
  if (header === undefined || !/^basic\b/i.test(header)) return undefined
  const text = Buffer.from(header.slice(6).trim(), 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return 'unreadable'
  try {
    return { client: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) }
  } catch {
    return 'unreadable'
  }
}

/** RFC 6749, section 2.3.1: both halves are form-encoded before they become Basic credentials. */
const formDecoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
