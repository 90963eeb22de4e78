import { RequestError } from '../../domain/request-error.ts'
import { FairShare } from '../../runtime/fairness/fair-share.ts'
import type { Middleware } from './context.ts'
import { clientNames } from './request-validation.ts'

/** Memory for the texts of all responses that are not sent yet. */
const RESPONSE_MEMORY_BYTES = 64 * 1024 * 1024

/** Shorter texts are not counted: as many as there can be connections fit into the same amount. */
const COUNTED_LENGTH = 16 * 1024

/**
 * Limits the memory for all responses together, shared fairly like that of request bodies. A response holds its share until
 * it was handed to the operating system. Without a share, a read is refused; a write was already done, and is answered.
 */
export function responseBounds(memoryBytes = RESPONSE_MEMORY_BYTES): Middleware {
  const share = new FairShare(memoryBytes)
  return async (ctx, next) => {
    await next()
    const { body, method, res } = ctx
    // A Buffer is shared by many responses, and a stream has a small buffer.
    if (typeof body !== 'string' || body.length < COUNTED_LENGTH || method === 'HEAD') return
    const allocation = share.openAllocation(clientNames(ctx))
    if (allocation.tryTake(body.length)) res.once('close', () => allocation.release())
    else if (method === 'GET') throw tooManyResponses()
  }
}

const tooManyResponses = () =>
  new RequestError('unavailable', 'Too many responses have not been read yet; read them, then try again', 2)
