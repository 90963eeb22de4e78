import { z } from 'zod'
import type { IdempotencyKey } from '../../commands/bulk/request.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Asked } from './endpoint.ts'

type Named = Pick<Asked, 'headers' | 'method' | 'path'>

export const IDEMPOTENCY_KEY = z
  .string()
  .optional()
  .describe('A name of the caller for this one request: sent again within a day, it gives the first answer again.')
  .meta({ examples: ['5f0c2c36-2c1b-4a43-9c2d-9f0a1f6f2b7e'] })

/**
 * The caller's name for its request; undefined where it gave none.
 * @throws Refusal malformed for a key that is empty, too long or not printable
 */
export function idempotencyKeyOf({ headers, method, path }: Named): IdempotencyKey | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return { key, method, path }
  throw new Refusal('malformed', 'Idempotency-Key must have 1 to 255 printable characters')
}
