import { Readable } from 'node:stream'
import type { Context } from './context.ts'
import type { Answer } from '../kit/answer.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Makes what an endpoint has returned Koa's answer, but for a body that is made later (`conditionalGet`). */
export function setAnswer(ctx: Context, answer: Answer): void {
  const { status, headers, body } = answer
  ctx.state.answer = answer
  if (body !== undefined) ctx.set('Content-Type', JSON_TYPE)
  for (const name in headers) {
    if (name === 'Vary') ctx.vary(headers[name] ?? '')
    else ctx.set(name, headers[name] ?? '')
  }
  // The length of an answer that holds a secret must tell nothing of it.
  if (ctx.response.get('Cache-Control') === 'no-store') ctx.compress = false
  if (typeof body !== 'function') setBody(ctx, body)
  // Koa makes it 204 where there is no body.
  ctx.status = status
}

/** @param body a stream is sent as it comes, so that its reader gets each part at once */
export function setBody(ctx: Context, body: string | Uint8Array | Readable | undefined): void {
  if (body instanceof Readable) ctx.compress = false
  // Koa would take a plain Uint8Array for an object to write as JSON.
  const isBare = body instanceof Uint8Array && !Buffer.isBuffer(body)
  ctx.body = isBare ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : (body ?? null)
}
