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
  /** The body does not end before this resolves. */
  readonly endsAfter?: Promise<void>
}

export type ApiResponse = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Parses the body, which must be JSON. */
  json(): unknown
}

/** The platform's error body. */
export type ErrorBody = {
  readonly error: readonly string[]
  readonly details?: readonly { readonly pointer: string; readonly message: string; readonly code: string }[]
  readonly requestId: string
}

/** Milliseconds after which a request without a response counts as hanging. */
const DEADLINE = 240_000

/** Milliseconds after which an idle connection is closed: less than the 65 s of the service, which could close it just as a request is sent. */
const IDLE_TIMEOUT_MS = 30_000

const agent = new Agent({ keepAlive: true, timeout: IDLE_TIMEOUT_MS })

/** Sends a request and checks what every response must have. */
export async function request(address: string, options: Request): Promise<ApiResponse> {
  const response = await exchange(address, options)
  checkEveryResponse(options, response)
  return response
}

function exchange(
  address: string,
  { method = 'GET', path, headers = {}, json, body, endsAfter = Promise.resolve() }: Request,
): Promise<ApiResponse> {
  const { hostname, port } = new URL(address)
  const content = json === undefined ? body : JSON.stringify(json)
  return new Promise((done, fail) => {
    const sentRequest = send({
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
    sentRequest.setTimeout(DEADLINE, () =>
      sentRequest.destroy(new Error(`no response to ${method} ${path} in ${DEADLINE} ms`)),
    )
    sentRequest.on('error', (cause) => fail(new Error(`${method} ${path}: ${cause.message}`, { cause })))
    // Has no effect after a complete response; a killed server may only close the connection.
    sentRequest.on('close', () => fail(new Error(`the connection closed before the response to ${method} ${path}`)))
    sentRequest.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        done({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) })
      })
    })
    if (typeof content === 'string' || Buffer.isBuffer(content)) sentRequest.end(content)
    else {
      for (const chunk of content ?? []) sentRequest.write(chunk)
      void endsAfter.then(() => sentRequest.end())
    }
  })
}

const mutable = (headers: NonNullable<Request['headers']>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )

/** Expects a version and a request id in every response, and a reason in the standard body of an error. */
export function checkEveryResponse(
  { method = 'GET', path, headers: sent }: Request,
  { status, headers, text }: ApiResponse,
): void {
  const summary = `${method} ${path.slice(0, 120)} answered ${status} ${text.slice(0, 300)}`
  expectDeclaredResponse(method, path, { status, text, headers })
  assert.is(headers['x-app-version'], VERSION, `${summary} without X-App-Version`)
  assert.match(String(headers['x-request-id']), /^[\x20-\x7e]{1,128}$/, `${summary} without X-Request-Id`)
  if (status === 405) assert.ok(headers.allow, `${summary} without Allow`)
  if (status === 401) assert.ok(headers['www-authenticate'], `${summary} without WWW-Authenticate`)
  if (status === 503 || status === 429) assert.ok(headers['retry-after'], `${summary} without Retry-After`)
  const isForPeople = method === 'GET' && String(sent?.['Accept']).startsWith('text/html')
  if (status >= 400 && method !== 'HEAD' && /^\/v\d/.test(path) && !isForPeople) {
    const { error, requestId } = JSON.parse(text) as ErrorBody
    assert.ok(Array.isArray(error) && error.length > 0 && error.every((message) => message.length > 0), summary)
    assert.is(requestId, headers['x-request-id'], summary)
  }
}

/** Expects a status; the failure shows the body. */
export function expect(status: number, response: ApiResponse): ApiResponse {
  assert.is(response.status, status, `expected ${status}, got ${response.status}: ${response.text.slice(0, 500)}`)
  return response
}

/** The body of an error response, after its status was checked. */
export const refusal = (status: number, response: ApiResponse): ErrorBody =>
  expect(status, response).json() as ErrorBody

/** The sorted pointers of an error body. */
export const pointers = (body: ErrorBody): string[] => (body.details ?? []).map(({ pointer }) => pointer).toSorted()
