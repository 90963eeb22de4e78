import { Router } from '@koa/router'
import type { Inspecting } from '../../commands/sessions/inspect-token.ts'
import type { OpeningSessions } from '../../commands/sessions/open-session.ts'
import type { Resource } from '../kit/app.ts'
import type { Parameters } from '../kit/parameters/parameters.ts'
import { originOf, type RequestState, type Step } from '../kit/request.ts'
import type { Asked } from './client.ts'
import { NEVER_STORED, oauthBody } from './errors.ts'
import { answerIntrospected } from './introspect.ts'
import { answerRevoked, OneTokenParameters } from './revoke.ts'
import { answerToken, TokenParameters } from './token.ts'

/** The token server: `POST /api/oauth/v2/token`, `revoke` and `introspect`. */
export function oauthResource(sessions: OpeningSessions & Inspecting): Resource {
  const router = new Router<RequestState>()
  router.post(
    '/api/oauth/v2/token',
    answering(TokenParameters, (asked) => answerToken(asked, sessions)),
  )
  router.post(
    '/api/oauth/v2/revoke',
    answering(OneTokenParameters, (asked) => answerRevoked(asked, sessions)),
  )
  router.post(
    '/api/oauth/v2/introspect',
    answering(OneTokenParameters, (asked) => answerIntrospected(asked, sessions)),
  )
  return { prefix: '/api/oauth', router, errorBody: oauthBody }
}

const answering =
  <Given>(form: Parameters<Given>, run: (asked: Asked<Given>) => Promise<object>): Step =>
  async (ctx) => {
    ctx.set(NEVER_STORED)
    const { authorization } = ctx.req.headers
    const given = await form.read(ctx.req, ctx.querystring)
    ctx.body = await run({ given, authorization, address: ctx.ip, origin: originOf(ctx) })
  }
