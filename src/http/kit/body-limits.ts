import type { Context } from 'koa'
import type { IncomingMessage } from 'node:http'
import { RequestError } from '../../domain/decider.ts'
import { TransferRateMonitor, tooSlowMessage as tooSlow } from '../../runtime/fairness/transfer-rate.ts'
import type { RequestState } from '../middleware/context.ts'

/** @throws Refusal unsupported for an upload that would have to be decompressed first */
export function refuseEncoding(req: IncomingMessage): void {
  const encoding = encodingOf(req)?.slice(0, 40)
  if (encoding === undefined) return
  throw new RequestError('unsupported', `A file is not read with Content-Encoding ${encoding}; send it as it is`)
}

/**
 * Reads a body with a library, and watches meanwhile that it has at most `limit` bytes, that it comes fast enough while it is read,
 * that there is room for it, and that its client stays.
 * @param read is called once what the head says has passed
 * @param inMemory false for a body that is not kept there
 * @throws what `read` throws; Refusal too-large, too-slow, unavailable, or malformed for a connection that broke
 */
export async function readWithLimits<Value>(
  { req, state }: Context,
  limit: number,
  read: () => Promise<Value>,
  { inMemory = true } = {},
): Promise<Value> {
  const { bodyAllowance } = state as RequestState
  const { minTransferRate } = bodyAllowance
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > limit) throw tooLarge(limit)
  if (inMemory) bodyAllowance.requireRoom(declared)
  // How many bytes it is decompressed is known only at its end.
  if (inMemory && encodingOf(req) !== undefined) bodyAllowance.consume(limit)
  const { promise: failed, reject } = Promise.withResolvers<never>()
  // Nobody waits for it where the reading fails first, or succeeds.
  failed.catch(() => undefined)
  const pace = new TransferRateMonitor(minTransferRate, () =>
    reject(new RequestError('too-slow', tooSlow(minTransferRate))),
  )
  let length = 0
  const take = (chunk: Buffer) => {
    try {
      length += chunk.length
      pace.countBytes(chunk.length)
      if (length > limit) throw tooLarge(limit)
      if (inMemory) bodyAllowance.consume(chunk.length)
    } catch (error) {
      reject(error)
    }
  }
  const pause = () => pace.pause()
  const resume = () => pace.resume()
  const broken = () => {
    pace.stop()
    if (!req.complete) reject(new RequestError('malformed', 'The connection broke while the body was read'))
  }
  req.on('data', take).on('pause', pause).on('resume', resume).on('error', broken).on('close', broken)
  if (req.destroyed) broken()
  try {
    return await Promise.race([read(), failed])
  } finally {
    pace.stop()
    req.off('data', take).off('pause', pause).off('resume', resume).off('close', broken)
  }
}

/** @param limit in bytes */
export const tooLarge = (limit: number) =>
  new RequestError('too-large', `The body may have at most ${limit.toLocaleString('en')} bytes`)

/** How a body is compressed, in lower case; undefined for one that is not. */
export function encodingOf({ headers }: IncomingMessage): string | undefined {
  const encoding = headers['content-encoding']?.toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? undefined : encoding
}

/** What a client is still listened to after its request was refused: it reads the answer once it has sent its body. */
const DISCARD_MAX_BYTES = 64 * 1024 * 1024
const DISCARD_TIMEOUT_MS = 10_000

/** Reads the rest of a request's body and forgets it, within bounds; past them the connection is cut. */
export function discardRest(req: IncomingMessage): void {
  let left = DISCARD_MAX_BYTES
  const cut = setTimeout(() => req.destroy(), DISCARD_TIMEOUT_MS).unref()
  req.on('close', () => clearTimeout(cut))
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) req.destroy()
  })
  // Whoever hangs up before its end has its refusal already, or wants none.
  req.on('error', () => undefined)
  // What takes no more would stop it.
  req.unpipe()
  req.resume()
}
