import { platformError } from './errors.ts'
import { send, type Direct } from './direct.ts'

/**
 * Characters of all headers together. The parser lets a request's line and headers share 272 KiB, since a secret may
 * stand in the line; what reads headers need not be made for lists of a hundred thousand tags or addresses.
 */
export const HEADERS_MAX = 32 * 1024

/** Refuses a request whose headers are too long, before anything reads them. */
export const refuseLongHeaders: Direct = (req, res, asked) => {
  let length = 0
  for (const text of req.rawHeaders) length += text.length
  if (length <= HEADERS_MAX) return false
  const message = `The headers may have at most ${HEADERS_MAX} characters`
  const body = JSON.stringify(platformError([{ message }], asked.requestId))
  send(res, { status: 431, headers: { Connection: 'close' }, body }, asked)
  return true
}
