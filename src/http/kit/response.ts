import { Readable } from 'node:stream'

/** By name, as they are written on the wire. */
export type ResponseHeaders = Readonly<Record<string, string>>

type ResponseContent = string | Uint8Array | Readable

/**
 * What an endpoint answers. A text without a Content-Type is JSON. Middlewares add the headers that all answers have, compress, make 304 of
 * an answer whose ETag the client's copy has, and leave the body of HEAD out.
 */
export type HttpResponse = {
  readonly status: number
  readonly headers: ResponseHeaders
  /**
   * A stream is piped, destroyed where the client is gone, and never opened to the end for HEAD. A function makes the body
   * where it is sent: not for a client that has a copy.
   */
  readonly body: ResponseContent | (() => ResponseContent | Promise<ResponseContent>) | undefined
  /** Sent although the client's copy has the same ETag: something has changed that the tag says nothing of. */
  readonly ignoresIfNoneMatch?: boolean
}

const NONE: ResponseHeaders = {}

/** 200. @param body a finished text as it is, or what becomes JSON */
export const ok = (body: string | object, headers: ResponseHeaders = NONE): HttpResponse =>
  createResponse(200, body, headers)

/** 201. @param location of what was made */
export const created = (location: string, body: string | object, headers: ResponseHeaders = NONE): HttpResponse =>
  createResponse(201, body, { ...headers, Location: location })

/** 204 */
export const noContent = (headers: ResponseHeaders = NONE): HttpResponse => ({ status: 204, headers, body: undefined })

/** 303: what was asked for was done, and is shown elsewhere. @param location may be relative */
export const seeOther = (location: string, headers: ResponseHeaders = NONE): HttpResponse => ({
  status: 303,
  headers: { ...headers, Location: location, 'Content-Length': '0' },
  body: undefined,
})

/** @param body a finished text as it is (JSON where `headers` name no other type), or what becomes JSON */
export const createResponse = (
  status: number,
  body: string | object,
  headers: ResponseHeaders = NONE,
): HttpResponse => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** Bytes of a type: a Uint8Array, a stream, whose Content-Length stands in the headers where it is known, or what makes one. */
export const binaryResponse = (
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
 * 200, and then one text after the other for as long as they come, each as soon as it is there. No more are made than the
 * client takes: what stays in memory is what a connection holds.
 */
export const streamResponse = (type: string, source: AsyncIterable<string>, headers: ResponseHeaders = NONE) => {
  const body = Readable.from(source, { objectMode: false, highWaterMark: STREAM_HIGH_WATER_MARK_BYTES })
  return { status: 200, headers: { ...headers, 'Content-Type': type }, body } satisfies HttpResponse
}

/** Bytes that are made before the client takes them. */
const STREAM_HIGH_WATER_MARK_BYTES = 16_384

/** The tags of an If-Match. */
export const parseEntityTags = (header: string): readonly string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? []
