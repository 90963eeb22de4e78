import { Refusal } from '../../domain/refusal.ts'
import { PATIENCE, type DiamondQueries } from '../../projections/diamond-queries.ts'
import type { Position } from '../../stores/event-store.ts'
import type { Ctx } from '../request.ts'

/** Sends a finished JSON text as it is. */
export function sendJson(ctx: Ctx, status: number, body: string): void {
  ctx.status = status
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  ctx.body = body
}

/** Says that lists don't show the newest writes yet; what is answered is right all the same. */
export function markPending(ctx: Ctx): void {
  ctx.set('X-Consistency', 'pending')
}

/**
 * A write answers when the read model has reached it, so that its client's next read sees it.
 * @returns false when that took too long
 */
export async function awaitProjection(ctx: Ctx, { progress }: DiamondQueries, position: Position | undefined) {
  if (position === undefined || (await progress.reached(position, PATIENCE))) return true
  markPending(ctx)
  return false
}

/** @throws Refusal missing for what is no diamond's id */
export function idOf(ctx: Ctx): number {
  const text = String(ctx.params['id'])
  const id = Number(text)
  if (/^[1-9]\d*$/.test(text) && id <= Number.MAX_SAFE_INTEGER) return id
  throw new Refusal('missing', `There is no diamond ${text.slice(0, 40)}`)
}
