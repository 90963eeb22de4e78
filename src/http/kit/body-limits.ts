import type { IncomingMessage } from 'node:http'
import { RequestError } from '../../domain/request-error.ts'
import { HttpError } from './http-error.ts'
import { TransferRateMonitor, tooSlowMessage } from '../../runtime/fairness/transfer-rate.ts'
import type { EndpointContext } from './endpoint.ts'

/** @throws HttpError 415 for a compressed multipart body */
export function refuseEncoding(req: IncomingMessage): void {
  const encoding = encodingOf(req)?.slice(0, 40)
  if (encoding === undefined) return
  throw new HttpError(
    415,
    `Content-Encoding ${encoding} is not supported for multipart bodies; send the body uncompressed`,
  )
}

/**
 * Runs a body parser within the limits of the request: body size, minimum transfer rate, and memory shared by all bodies.
 * @param read called once the request head has passed the checks
 * @param inMemory false for a body that is not kept in memory
 * @throws what `read` throws; HttpError 408; RequestError too-large, unavailable, or malformed if the connection closes early
 */
export async function readWithLimits<Value>(
  { req, state }: Pick<EndpointContext, 'req' | 'state'>,
  maxBytes: number,
  read: () => Promise<Value>,
  { inMemory = true } = {},
): Promise<Value> {
  const { bodyAllowance } = state
  const { minTransferRate } = bodyAllowance
  const contentLength = Number(req.headers['content-length'] ?? 0)
  if (contentLength > maxBytes) throw tooLarge(maxBytes)
  if (inMemory) bodyAllowance.requireAvailable(contentLength)
  // The decompressed size is unknown until the end, so reserve the maximum.
  if (inMemory && encodingOf(req) !== undefined) bodyAllowance.consume(maxBytes)
  const { promise: failure, reject } = Promise.withResolvers<never>()
  // Prevents an unhandled rejection if the parser settles first.
  failure.catch(() => undefined)
  const rateMonitor = new TransferRateMonitor(minTransferRate, () =>
    reject(new HttpError(408, tooSlowMessage(minTransferRate))),
  )
  let receivedBytes = 0
  const onData = (chunk: Buffer) => {
    try {
      receivedBytes += chunk.length
      rateMonitor.countBytes(chunk.length)
      if (receivedBytes > maxBytes) throw tooLarge(maxBytes)
      if (inMemory) bodyAllowance.consume(chunk.length)
    } catch (error) {
      reject(error)
    }
  }
  const onPause = () => rateMonitor.pause()
  const onResume = () => rateMonitor.resume()
  const onClose = () => {
    rateMonitor.stop()
    if (!req.complete) reject(new RequestError('malformed', 'The connection closed before the whole body arrived'))
  }
  req.on('data', onData).on('pause', onPause).on('resume', onResume).on('error', onClose).on('close', onClose)
  if (req.destroyed) onClose()
  try {
    return await Promise.race([read(), failure])
  } finally {
    rateMonitor.stop()
    req.off('data', onData).off('pause', onPause).off('resume', onResume).off('close', onClose)
  }
}

export const tooLarge = (maxBytes: number) =>
  new RequestError('too-large', `The body must be at most ${maxBytes.toLocaleString('en')} bytes`)

/** The Content-Encoding in lower case; undefined for an uncompressed body. */
export function encodingOf({ headers }: IncomingMessage): string | undefined {
  const encoding = headers['content-encoding']?.toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? undefined : encoding
}

/** How much of a rejected request's body is still read. Many clients read the response only after sending their body. */
const DISCARD_MAX_BYTES = 64 * 1024 * 1024
const DISCARD_TIMEOUT_MS = 10_000

/** Reads and discards the rest of a request body. Closes the connection after 64 MiB or 10 s. */
export function discardRest(req: IncomingMessage): void {
  let remainingBytes = DISCARD_MAX_BYTES
  const timeout = setTimeout(() => req.destroy(), DISCARD_TIMEOUT_MS).unref()
  req.on('close', () => clearTimeout(timeout))
  req.on('data', (chunk: Buffer) => {
    remainingBytes -= chunk.length
    if (remainingBytes < 0) req.destroy()
  })
  // The client may disconnect at any time.
  req.on('error', () => undefined)
  // A parser that stopped reading would pause the request.
  req.unpipe()
  req.resume()
}
