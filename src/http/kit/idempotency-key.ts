import type { RequestName } from '../../commands/bulk/answer-once.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ctx } from './request.ts'

/**
 * What a caller named its request by; undefined where it did not.
 * @throws Refusal malformed for a key that is empty, too long or not printable
 */
export function requestNameOf(ctx: Ctx): RequestName | undefined {
  const key = ctx.req.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return { key, method: ctx.method, path: ctx.path }
  throw new Refusal('malformed', 'Idempotency-Key must have 1 to 255 printable characters')
}
