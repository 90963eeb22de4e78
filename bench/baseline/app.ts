import koaCors from '@koa/cors'
import { Router } from '@koa/router'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import koaCompress from 'koa-compress'
import { DEFAULTS } from '../../src/domain/diamond/fields.ts'
import { RequestError } from '../../src/domain/request-error.ts'
import { parseNewEntries } from '../../src/http/diamonds/bulk-entries.ts'
import { parseListQuery } from '../../src/http/diamonds/list-query.ts'
import type { BaselineContext, BaselineState, BaselineMiddleware } from './authenticate.ts'
import { handleErrors } from './errors.ts'
import { present } from './present.ts'
import { logRequest } from './request-log.ts'
import type { StoneRow } from './row.ts'
import type { StoneTable } from './stones.ts'
import { parseFieldChanges, parseNewDiamond } from '../../src/representations/diamond/parse-diamond.ts'
import type { ParseResult } from '../../src/representations/json.ts'

export type BaselineOptions = {
  readonly stones: StoneTable
  readonly authenticate: BaselineMiddleware
  readonly address: string
}

/**
 * The baseline service: one table, JSON created on reading, no events. As in the real service, requests have ids and
 * are logged, and responses are compressed and allow cross-origin access. It validates with the real service's
 * functions.
 */
export function createApp({ stones, authenticate, address }: BaselineOptions): Koa<BaselineState> {
  const router = new Router<BaselineState>({ prefix: '/v4/diamond' })
  const body = koaBody({ multipart: false, urlencoded: false, text: false, jsonLimit: '8mb' })
  router.use(authenticate)
  router.post('/', body, (ctx) => {
    const row = stones.create(ctx.state.caller.account, valueOrThrow(parseNewDiamond('v4', ctx.request.body, '')))
    ctx.status = 201
    ctx.set('Location', `${address}/v4/diamond/${row.id}`)
    ctx.body = present(row, address)
  })
  router.post('/bulk', body, async (ctx) => {
    const rows = stones.createAll(ctx.state.caller.account, await parseNewEntries('v4', ctx.request.body))
    ctx.status = 201
    ctx.body = rows.map((row) => present(row, address))
  })
  router.get('/', (ctx) => {
    const { filter, page } = parseListQuery('v4', ctx.querystring, () => undefined)
    const { rows, total } = stones.list(ctx.state.caller.account, filter, page)
    ctx.set('X-Total-Count', String(total))
    if (rows.length === 0) ctx.status = 204
    else ctx.body = rows.map((row) => present(row, address))
  })
  router.get('/:id', (ctx) => {
    ctx.body = present(requireOwned(ctx, stones.get(Number(ctx.params['id']))), address)
  })
  router.patch('/:id', body, (ctx) => {
    const { set, removed } = valueOrThrow(parseFieldChanges('v4', ctx.request.body, ''))
    const { id } = requireOwned(ctx, stones.get(Number(ctx.params['id'])))
    const defaults = Object.fromEntries(removed.map((name) => [name, DEFAULTS[name]]))
    ctx.body = present(requireOwned(ctx, stones.update(id, { ...defaults, ...set })), address)
  })
  const app = new Koa<BaselineState>()
  app.use(logRequest)
  app.use(koaCors())
  app.use(koaCompress({ br: false, zstd: false, deflate: false }))
  app.use(handleErrors)
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

function valueOrThrow<Value>({ value, errors }: ParseResult<Value>): Value {
  if (errors !== undefined) throw new RequestError('invalid', errors)
  return value
}

function requireOwned(ctx: BaselineContext, row: StoneRow | undefined): StoneRow {
  if (row === undefined) throw new RequestError('missing', 'There is no such diamond')
  if (row.owner !== ctx.state.caller.account)
    throw new RequestError('forbidden', 'This diamond belongs to another account')
  return row
}
