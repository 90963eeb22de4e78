import { Router } from '@koa/router'
import Koa from 'koa'
import { koaBody } from 'koa-body'
import { authenticate } from './authenticate.ts'
import { Invalid, readFields, readNew } from './input.ts'
import { readListQuery } from './list-query.ts'
import { present } from './present.ts'
import type { Row, Stones } from './stones.ts'

export type State = { owner: number }
type Ctx = Koa.ParameterizedContext<State>

const BULK_MAX = 500

/** The plain service: one table, JSON made on reading, no events. */
export function createApp(stones: Stones, address: string): Koa<State> {
  const app = new Koa<State>()
  const router = new Router<State>({ prefix: '/v4/diamond' })
  const body = koaBody({ multipart: false, urlencoded: false, text: false, jsonLimit: '8mb' })
  router.use(authenticate)
  router.post('/', body, (ctx) => {
    const row = stones.create(ctx.state.owner, readNew(ctx.request.body, ''))
    ctx.status = 201
    ctx.set('Location', `/v4/diamond/${row.id}`)
    ctx.body = present(row, address)
  })
  router.post('/bulk', body, (ctx) => {
    const rows = stones.createMany(
      ctx.state.owner,
      entriesOf(ctx.request.body).map((entry, index) => readNew(entry, `/entries/${index}`)),
    )
    ctx.status = 201
    ctx.body = rows.map((row) => present(row, address))
  })
  router.get('/', (ctx) => {
    const { filters, limit, offset } = readListQuery(ctx.query)
    const { rows, total } = stones.list(ctx.state.owner, filters, limit, offset)
    ctx.set('X-Total-Count', String(total))
    if (rows.length === 0) ctx.status = 204
    else ctx.body = rows.map((row) => present(row, address))
  })
  router.get('/:id', (ctx) => {
    ctx.body = present(own(ctx, stones.get(Number(ctx.params['id']))), address)
  })
  router.patch('/:id', body, (ctx) => {
    const fields = readFields(ctx.request.body, '')
    const { id } = own(ctx, stones.get(Number(ctx.params['id'])))
    ctx.body = present(own(ctx, stones.update(id, fields)), address)
  })
  app.use(answerErrors)
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

async function answerErrors(ctx: Koa.Context, next: Koa.Next): Promise<void> {
  ctx.set('X-App-Version', '4.0.0')
  try {
    await next()
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    ctx.status = 422
    ctx.body = { error: error.faults.map((fault) => fault.message), details: error.faults }
  }
}

function entriesOf(body: unknown): unknown[] {
  const entries = typeof body === 'object' && body !== null && 'entries' in body ? body.entries : undefined
  if (!Array.isArray(entries) || entries.length === 0)
    throw new Invalid([{ pointer: '/entries', message: 'entries must be a list' }])
  if (entries.length > BULK_MAX)
    throw new Invalid([{ pointer: '/entries', message: `entries has at most ${BULK_MAX} members` }])
  return entries
}

function own(ctx: Ctx, row: Row | undefined): Row {
  if (row === undefined) return ctx.throw(404, 'There is no such diamond')
  if (row.owner !== ctx.state.owner) return ctx.throw(403, 'This diamond belongs to another account')
  return row
}
