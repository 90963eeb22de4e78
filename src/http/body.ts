import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../domain/refusal.ts'
import type { Ctx, Step } from './request.ts'

/** Bytes of a JSON body at most. */
export const JSON_LIMIT = 8 * 1024 * 1024

/** Levels of a body; a diamond in a bulk request has five. What walks through a body need not fear for the stack. */
const DEPTH_LIMIT = 100

/** Reads and parses a JSON body into `ctx.state.body`; a body of another type is refused by its status. */
export const readJsonBody: Step = async (ctx, next) => {
  const type = ctx.req.headers['content-type']
  if (type !== undefined && !isJson(type)) {
    throw new Refusal('unsupported', `Content-Type must be application/json, got ${type.slice(0, 100)}`)
  }
  refuseEncoding(ctx)
  ctx.state.body = parseJsonBody(keptBodies.get(ctx.req) ?? (await readBody(ctx.req, JSON_LIMIT)))
  return next()
}

const keptBodies = new WeakMap<IncomingMessage, Buffer>()

/** Keeps a body that was read already for the middleware that will ask for it. */
export const keepBody = (req: IncomingMessage, bytes: Buffer): void => void keptBodies.set(req, bytes)

/** True for a Content-Type whose body is JSON. */
export const isJson = (type: string) => /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)

/** @throws Refusal unsupported for a body that would have to be unpacked first */
export function refuseEncoding(ctx: Ctx): void {
  const encoding = ctx.req.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Refusal('unsupported', `Content-Encoding ${encoding.slice(0, 40)} is not read; send the body as it is`)
  }
}

/** @throws Refusal malformed, or invalid where it is nested too deep */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new Refusal('malformed', 'The body is empty; send a JSON object')
  const body = parseJson(bytes)
  if (depthOf(bytes) > DEPTH_LIMIT) throw new Refusal('invalid', `The body is nested over ${DEPTH_LIMIT} levels deep`)
  return body
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Refusal('malformed', 'The body is not JSON: it is not UTF-8')
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text)
  } catch (error) {
    throw new Refusal('malformed', `The body is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
}

const BYTE_ORDER_MARK = 0xfeff

/** How deep the arrays and objects of a JSON text stand in each other. */
function depthOf(json: Buffer): number {
  let depth = 0
  let deepest = 0
  let inText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) inText = !inText
    else if (inText) at += byte === BACKSLASH ? 1 : 0
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return deepest
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * The whole body, as long as it has at most `limit` bytes.
 * @throws Refusal too-large, before more than the limit is kept
 */
export function readBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new Refusal('too-large', `The body may have at most ${limit} bytes`)
  if (Number(req.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge())
  return new Promise((done, fail) => {
    const chunks: Buffer[] = []
    let length = 0
    req.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) {
        req.removeAllListeners('data').resume()
        fail(tooLarge())
      } else chunks.push(chunk)
    })
    req.on('end', () =>
      done(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length)),
    )
    req.on('error', () => fail(new Refusal('malformed', 'The connection broke while the body was read')))
    req.on('aborted', () => fail(new Refusal('malformed', 'The connection broke while the body was read')))
  })
}
