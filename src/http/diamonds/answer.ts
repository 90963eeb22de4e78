import { Refusal } from '../../domain/refusal.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { PATIENCE } from '../../projections/engine/patience.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import type { DirectAnswer } from '../kit/direct.ts'
import { PENDING } from '../kit/consistency.ts'
import { patienceOf, type Ctx } from '../kit/request.ts'

/** Sends a finished JSON text as it is. */
export function sendJson(ctx: Ctx, status: number, body: string): void {
  ctx.status = status
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  ctx.body = body
}

/** Sends what the direct ways would send as it is. */
export function sendAnswer(ctx: Ctx, { status, headers, body }: DirectAnswer): void {
  ctx.set(headers)
  if (body === undefined) ctx.status = status
  else sendJson(ctx, status, body)
}

export function markPending(ctx: Ctx): void {
  ctx.set(PENDING)
}

/**
 * A write answers when the read model has reached it, so that its client's next read sees it.
 * @returns false when that took too long
 */
export function isReached(
  { progress }: DiamondQueries,
  position: Position | undefined,
  milliseconds = PATIENCE,
): boolean | Promise<boolean> {
  return position === undefined || progress.reached(position, milliseconds)
}

/** As `isReached`; an answer that did not wait so long says so. */
export async function awaitProjection(ctx: Ctx, queries: DiamondQueries, position: Position | undefined) {
  if (await patienceOf(ctx).during((ms) => isReached(queries, position, ms))) return true
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
