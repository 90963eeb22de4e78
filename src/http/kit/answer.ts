import { Readable } from 'node:stream'

/** By name, as they are written on the wire. */
export type Headers = Readonly<Record<string, string>>

/**
 * What is sent. A text without a Content-Type is JSON. What all answers have (the request's id, lengths, CORS) is added
 * in sending; so is packing, and the body of an answer to HEAD is left out there.
 */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  /** A stream is piped, destroyed where the client is gone, and never opened to the end for HEAD. */
  readonly body: string | Uint8Array | Readable | undefined
}

const NONE: Headers = {}

/** 200. @param body a finished text as it is, or what becomes JSON */
export const ok = (body: string | object, headers: Headers = NONE): Answer => answer(200, body, headers)

/** 201. @param location of what was made */
export const created = (location: string, body: string | object, headers: Headers = NONE): Answer =>
  answer(201, body, { ...headers, Location: location })

/** 204 */
export const noContent = (headers: Headers = NONE): Answer => ({ status: 204, headers, body: undefined })

/** 303: what was asked for was done, and is shown elsewhere. @param location may be relative */
export const seeOther = (location: string, headers: Headers = NONE): Answer => ({
  status: 303,
  headers: { ...headers, Location: location, 'Content-Length': '0' },
  body: undefined,
})

/** 304: the caller's copy is the one there is (`isNotModified`). */
export const notModified = (headers: Headers): Answer => ({ status: 304, headers, body: undefined })

/** @param body a finished text as it is (JSON where `headers` name no other type), or what becomes JSON */
export const answer = (status: number, body: string | object, headers: Headers = NONE): Answer => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** Bytes of a type: a Uint8Array, or a stream, whose Content-Length stands in the headers where it is known. */
export const bytes = (status: number, type: string, body: Uint8Array | Readable, headers: Headers = NONE): Answer => ({
  status,
  headers: { ...headers, 'Content-Type': type },
  body,
})

/**
 * 200, and then one text after the other for as long as they come, each as soon as it is there. No more are made than the
 * client takes: what stays in memory is what a connection holds.
 */
export const streamed = (type: string, source: AsyncIterable<string>, headers: Headers = NONE) => {
  const body = Readable.from(source, { objectMode: false, highWaterMark: STREAMED_AHEAD })
  return { status: 200, headers: { ...headers, 'Content-Type': type }, body } satisfies Answer
}

/** Bytes that are made before the client takes them. */
const STREAMED_AHEAD = 16_384

/** True when the caller's copy is still the one there is: RFC 9110, 13.1.2, weak comparison. */
export function isNotModified(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return tagsOf(header).some((tag) => tag.replace(/^W\//, '') === etag)
}

/** The tags of If-Match or If-None-Match. */
export const tagsOf = (header: string): readonly string[] => header.match(/(?:W\/)?"[^"]*"/g) ?? []
