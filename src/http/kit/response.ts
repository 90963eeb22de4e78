import { Readable } from 'node:stream'
import { inSlices } from '../../runtime/event-loop.ts'

export type ResponseHeaders = Readonly<Record<string, string>>

type ResponseContent = string | Uint8Array | Readable

/**
 * The response of an endpoint. The default Content-Type is JSON. Middleware adds common headers, compresses the body, and
 * handles conditional requests (304) and HEAD.
 */
export type HttpResponse = {
  readonly status: number
  readonly headers: ResponseHeaders
  /**
   * A stream is destroyed when the client disconnects. A function creates the body only if it is needed, that is, not for
   * a 304.
   */
  readonly body: ResponseContent | (() => ResponseContent | Promise<ResponseContent>) | undefined
  /** Sends the full response although the client has the current ETag: something outside the ETag has changed. */
  readonly ignoresIfNoneMatch?: boolean
}

const NONE: ResponseHeaders = {}

/** 200. @param body an object is sent as JSON, a string unchanged */
export const ok = (body: string | object, headers: ResponseHeaders = NONE): HttpResponse =>
  createResponse(200, body, headers)

/** 201. @param location URL of the created resource */
export const created = (location: string, body: string | object, headers: ResponseHeaders = NONE): HttpResponse =>
  createResponse(201, body, { ...headers, Location: location })

/** 204 */
export const noContent = (headers: ResponseHeaders = NONE): HttpResponse => ({ status: 204, headers, body: undefined })

/** 303 See Other. @param location may be relative */
export const seeOther = (location: string, headers: ResponseHeaders = NONE): HttpResponse => ({
  status: 303,
  headers: { ...headers, Location: location, 'Content-Length': '0' },
  body: undefined,
})

/** @param body an object is sent as JSON, a string unchanged (with a Content-Type of JSON unless `headers` set another) */
export const createResponse = (
  status: number,
  body: string | object,
  headers: ResponseHeaders = NONE,
): HttpResponse => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** Content of any media type. @param headers should include Content-Length for a stream of known length */
export const contentResponse = (
  status: number,
  type: string,
  body: NonNullable<HttpResponse['body']>,
  headers: ResponseHeaders = NONE,
): HttpResponse => ({
  status,
  headers: { ...headers, 'Content-Type': type },
  body,
})

/**
 * Sends each text as soon as the source yields it. Back-pressure pauses the source for a slow client; a fast one does not keep
 * the event loop, although an embedded store never waits.
 */
export const textStream = (source: AsyncIterable<string>): Readable =>
  Readable.from(inSlices(source), { objectMode: false, highWaterMark: STREAM_HIGH_WATER_MARK_BYTES })

const STREAM_HIGH_WATER_MARK_BYTES = 16_384

/** Parses the entity tags of an If-Match header. */
export const parseEntityTags = (header: string): readonly string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? []
