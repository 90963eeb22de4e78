import { Router } from '@koa/router'
import type { Inspecting } from '../../commands/sessions/inspect-token.ts'
import type { OpeningSessions } from '../../commands/sessions/open-session.ts'
import type { Resource } from '../kit/app.ts'
import type { RequestState, Step } from '../kit/request.ts'
import { authenticateClient } from './client.ts'
import { NEVER_STORED, oauthBody } from './errors.ts'
import { answerIntrospected } from './introspect.ts'
import { readParameters } from './parameters.ts'
import { answerRevoked } from './revoke.ts'
import { answerToken, checkGrantType, checkScope } from './token.ts'

/** The token server: `POST /api/oauth/v2/token`, `revoke` and `introspect`. */
export function oauthResource(sessions: OpeningSessions & Inspecting): Resource {
  const router = new Router<RequestState>()
  const client = authenticateClient(sessions)
  router.use(neverStored)
  router.post('/api/oauth/v2/token', readParameters, checkGrantType, client, checkScope, answerToken(sessions))
  router.post('/api/oauth/v2/revoke', readParameters, client, answerRevoked(sessions))
  router.post('/api/oauth/v2/introspect', readParameters, client, answerIntrospected(sessions))
  return { prefix: '/api/oauth', router, errorBody: oauthBody }
}

const neverStored: Step = (ctx, next) => {
  ctx.set(NEVER_STORED)
  return next()
}
