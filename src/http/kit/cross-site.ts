import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../domain/decider.ts'
import type { Origins } from '../middleware/cors.ts'

/** Where requests may come from: this service's own addresses, and those of CORS_ORIGINS. */
export type Sites = { readonly own: readonly string[]; readonly allowed: Origins }

/**
 * Whether another site's page has made a browser send this. Programs send neither header. A form of another site can post
 * with what the browser has stored (passwords of Basic, an address in its history), without its user's knowledge.
 * https://www.w3.org/TR/fetch-metadata/ and https://fetch.spec.whatwg.org/#origin-header
 */
function isCrossSite(headers: IncomingHttpHeaders, { own, allowed }: Sites): boolean {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  if (site === 'same-origin' || site === 'none') return false
  if (site === undefined && (origin === undefined || origin === 'null' || isOwn(origin, headers.host, own)))
    return false
  if (headers['sec-fetch-mode'] === 'navigate' || origin === undefined) return true
  return allowed !== '*' && !allowed.has(origin)
}

/** Older browsers send an origin alone; behind a name that nobody has configured it is that of the request. */
const isOwn = (origin: string, host: string | undefined, own: readonly string[]) =>
  own.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host)

/** To be asked of what changes something. @throws Refusal forbidden for what another site's page has made a browser send */
export function refuseCrossSite(headers: IncomingHttpHeaders, sites: Sites): void {
  if (!isCrossSite(headers, sites)) return
  throw new Refusal('forbidden', 'This came from a page of another site; open the link, or call the API from a program')
}
