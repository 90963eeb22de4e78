import { createHash } from 'node:crypto'
import { Router } from '@koa/router'
import { constants } from '../../domain/dictionaries/constants.ts'
import { cutShape, cutShapes } from '../../domain/dictionaries/shapes.ts'
import { Refusal } from '../../domain/refusal.ts'
import { VERSION } from '../../runtime/version.ts'
import type { Resource } from '../kit/app.ts'
import { isNotModified } from '../diamonds/conditions.ts'
import type { Ctx, RequestState, Step } from '../kit/request.ts'

/** Clients cache the constants until X-App-Version changes; an hour bounds those that don't look. */
const CACHE = 'public, max-age=3600'

/** `GET /v2/constants`: the dictionaries and scoring constants; nobody has to log in. */
export function constantsResource(): Resource {
  const router = new Router<RequestState>()
  router.get('/v2/constants', sendCached(constants(VERSION)))
  return { prefix: '/v2/constants', router }
}

/** `GET /v2/cutshapes[/{id}]`: the tree of cut shapes and one shape's detail. */
export function cutShapesResource(): Resource {
  const router = new Router<RequestState>()
  router.get('/v2/cutshapes', sendCached(cutShapes()))
  router.get('/v2/cutshapes/:id', (ctx: Ctx) =>
    sendCached(detailOf(String(ctx.params['id'])))(ctx, async () => undefined),
  )
  return { prefix: '/v2/cutshapes', router }
}

function detailOf(text: string) {
  const detail = /^[1-9]\d{0,8}$/.test(text) ? cutShape(Number(text)) : undefined
  if (detail === undefined)
    throw new Refusal('missing', `There is no cut shape ${text.slice(0, 40)}; GET /v2/cutshapes lists them`)
  return detail
}

function sendCached(value: unknown): Step {
  const body = JSON.stringify(value)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
  return (ctx) => {
    ctx.set({ ETag: etag, 'Cache-Control': CACHE })
    if (isNotModified(ctx.req.headers['if-none-match'], etag)) {
      ctx.status = 304
      return
    }
    ctx.type = 'application/json; charset=utf-8'
    ctx.body = body
  }
}
