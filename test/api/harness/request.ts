import { Agent, request as send, type IncomingHttpHeaders } from 'node:http'
import * as assert from 'uvu/assert'
import { VERSION } from '../../../src/runtime/version.ts'
import { expectDeclaredResponse } from './declared-responses.ts'

/** A request that is sent as it is: nothing is escaped, defaulted or followed. */
export type Request = {
  readonly method?: string
  /** The request target, sent as written. */
  readonly path: string
  /** A list of values sends the header once for each. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent unchanged, without a Content-Type; a list is sent in chunks, without a Content-Length. */
  readonly body?: string | Buffer | readonly Buffer[]
}

export type Answer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Parses the body, which must be JSON. */
  json(): unknown
}

/** The platform's error body. */
export type ErrorBody = {
  readonly error: readonly string[]
  readonly details?: readonly { readonly pointer: string; readonly message: string }[]
  readonly requestId: string
}

/** Milliseconds after which a request without a response counts as hanging. */
const DEADLINE = 240_000

/** Milliseconds after which an idle connection is closed: less than the 65 s of the service, which could close it just as a request is sent. */
const IDLE = 30_000

const agent = new Agent({ keepAlive: true, timeout: IDLE })

/** Sends a request and checks what every response must have. */
export async function request(address: string, wanted: Request): Promise<Answer> {
  const answer = await exchange(address, wanted)
  checkEveryResponse(wanted, answer)
  return answer
}

function exchange(address: string, { method = 'GET', path, headers = {}, json, body }: Request): Promise<Answer> {
  const { hostname, port } = new URL(address)
  const content = json === undefined ? body : JSON.stringify(json)
  return new Promise((done, fail) => {
    const sending = send({
      agent,
      hostname,
      port,
      method,
      path,
      headers: {
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...(typeof content === 'string' && { 'Content-Length': String(Buffer.byteLength(content)) }),
        ...(Array.isArray(content) && { 'Transfer-Encoding': 'chunked' }),
        ...(Buffer.isBuffer(content) && { 'Content-Length': String(content.length) }),
        ...mutable(headers),
      },
    })
    sending.setTimeout(DEADLINE, () => sending.destroy(new Error(`no response to ${method} ${path} in ${DEADLINE} ms`)))
    sending.on('error', (cause) => fail(new Error(`${method} ${path}: ${cause.message}`, { cause })))
    // Has no effect after a complete response; a killed server may only close the connection.
    sending.on('close', () => fail(new Error(`the connection closed before the response to ${method} ${path}`)))
    sending.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        done({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) })
      })
    })
    if (typeof content === 'string' || Buffer.isBuffer(content)) sending.end(content)
    else {
      for (const chunk of content ?? []) sending.write(chunk)
      sending.end()
    }
  })
}

const mutable = (headers: NonNullable<Request['headers']>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )

/** Expects a version and a request id in every response, and a reason in the standard body of an error. */
export function checkEveryResponse({ method = 'GET', path }: Request, { status, headers, text }: Answer): void {
  const what = `${method} ${path.slice(0, 120)} answered ${status} ${text.slice(0, 300)}`
  expectDeclaredResponse(method, path, { status, text, headers })
  assert.is(headers['x-app-version'], VERSION, `${what} without X-App-Version`)
  assert.match(String(headers['x-request-id']), /^[\x20-\x7e]{1,128}$/, `${what} without X-Request-Id`)
  if (status === 405) assert.ok(headers.allow, `${what} without Allow`)
  if (status === 401) assert.ok(headers['www-authenticate'], `${what} without WWW-Authenticate`)
  if (status === 503 || status === 429) assert.ok(headers['retry-after'], `${what} without Retry-After`)
  if (status >= 400 && method !== 'HEAD' && /^\/v\d/.test(path)) {
    const { error, requestId } = JSON.parse(text) as ErrorBody
    assert.ok(Array.isArray(error) && error.length > 0 && error.every((message) => message.length > 0), what)
    assert.is(requestId, headers['x-request-id'], what)
  }
}

/** Expects a status; the failure shows the body. */
export function expect(status: number, answer: Answer): Answer {
  assert.is(answer.status, status, `expected ${status}, got ${answer.status}: ${answer.text.slice(0, 500)}`)
  return answer
}

/** The body of an error response, after its status was checked. */
export const refusal = (status: number, answer: Answer): ErrorBody => expect(status, answer).json() as ErrorBody

/** The sorted pointers of an error body. */
export const pointers = (body: ErrorBody): string[] => (body.details ?? []).map(({ pointer }) => pointer).toSorted()
