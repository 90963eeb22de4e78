import { UNIQUE } from './load/measure.ts'

/** Replaces UNIQUE when a body's bytes are counted. */
const UNIQUE_SAMPLE = '000000000'

export type BenchRequest = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: string
}

/** Headers that a reverse proxy and a tracing system add. */
export const PROXY_HEADERS = {
  'X-Forwarded-For': '198.51.100.7, 203.0.113.9',
  'X-Forwarded-Proto': 'https',
  'X-Request-Id': '0af7651916cd43dd8448eb211c80319c',
} as const

/** The same requests as forwarded by a reverse proxy; they must not be slower. */
export const behindProxy = (requests: readonly BenchRequest[]): BenchRequest[] =>
  requests.map((request) => ({ ...request, headers: { ...request.headers, ...PROXY_HEADERS } }))

/** A request as HTTP/1.1 text, with the access token if there is one. */
export function requestText(
  service: { readonly port: number; readonly token?: string },
  request: BenchRequest,
): string {
  const { method, path, headers = {}, json } = request
  const allHeaders: Record<string, string> = { Host: `127.0.0.1:${service.port}`, ...headers }
  if (service.token !== undefined) allHeaders['Authorization'] = `Bearer ${service.token}`
  if (json !== undefined) allHeaders['Content-Type'] = 'application/json'
  if (method !== 'GET')
    allHeaders['Content-Length'] = String(Buffer.byteLength(json?.replaceAll(UNIQUE, UNIQUE_SAMPLE) ?? ''))
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${json ?? ''}`
}
