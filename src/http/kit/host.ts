import type { IncomingMessage } from 'node:http'

/** What is wrong with the Host of a request (RFC 9112, 3.2): none in HTTP/1.1, or more than one. */
export function hostFault({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): string | undefined {
  if (headers.host === undefined) return httpVersionMinor > 0 ? 'The request has no Host header' : undefined
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count > 1 ? `The request has ${count} Host headers` : undefined
}
