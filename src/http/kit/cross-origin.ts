import type { IncomingMessage } from 'node:http'

/** Origins whose pages may ask the APIs: none, all, or those of a list. */
export type Origins = '*' | ReadonlySet<string>

/** Seconds that a browser need not ask again what it may send: a day. */
const PREFLIGHT_LIFE = 86_400

/** What scripts may read of an answer beside the few headers that they always may. */
const EXPOSED = [
  'X-Total-Count',
  'Link',
  'ETag',
  'Location',
  'X-Request-Id',
  'X-App-Version',
  'X-Consistency',
  'Age',
  'Retry-After',
  'Memento-Datetime',
].join(', ')

/** What scripts may send; `*` would not cover Authorization. */
const ACCEPTED = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Range',
  'X-Request-Id',
  'traceparent',
].join(', ')

/** The APIs; pages, health and metrics are nobody's scripts' business. */
const API = /^\/(?:v\d+|api|\.well-known)(?:\/|$)/

/**
 * Lets the scripts of other origins read the APIs' answers (https://fetch.spec.whatwg.org/#http-cors-protocol). Cookies
 * and a browser's stored passwords never go with them: there is no Access-Control-Allow-Credentials.
 */
export class CrossOrigin {
  constructor(private readonly origins: Origins) {}

  /** Headers of any answer, names and values one after another. @param path of the request, query and all */
  headersFor({ headers: { origin } }: IncomingMessage, path: string): readonly string[] {
    if (this.origins !== '*' && this.origins.size === 0) return NONE
    if (!API.test(path)) return NONE
    if (this.origins === '*') return ANY
    // A cache must not give the answer for one origin to another, nor to who sent none.
    const vary = ['Vary', 'Origin']
    if (origin === undefined || !this.origins.has(origin)) return vary
    return [...vary, 'Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED]
  }
}

const NONE: readonly string[] = []
const ANY = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED]

/** What a browser asks before it sends anything but the plainest requests. @param methods that the path has */
export const preflightHeaders = (methods: string): Readonly<Record<string, string>> => ({
  'Access-Control-Allow-Methods': methods,
  'Access-Control-Allow-Headers': ACCEPTED,
  'Access-Control-Max-Age': String(PREFLIGHT_LIFE),
})
