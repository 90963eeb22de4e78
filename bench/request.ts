import { UNIQUE } from './load/measure.ts'

/** Replaces UNIQUE when a body's bytes are counted. */
const SAMPLE = '000000000'

export type Ask = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: string
}

/** Headers that a reverse proxy and a tracing system add. */
export const PROXIED = {
  'X-Forwarded-For': '198.51.100.7, 203.0.113.9',
  'X-Forwarded-Proto': 'https',
  'X-Request-Id': '0af7651916cd43dd8448eb211c80319c',
} as const

/** The same requests as forwarded by a reverse proxy; they must not be slower. */
export const proxied = (asks: readonly Ask[]): Ask[] =>
  asks.map((ask) => ({ ...ask, headers: { ...ask.headers, ...PROXIED } }))

/** A request as HTTP/1.1 text, with the access token if there is one. */
export function requestText(service: { readonly port: number; readonly token?: string }, ask: Ask): string {
  const { method, path, headers = {}, json } = ask
  const all: Record<string, string> = { Host: `127.0.0.1:${service.port}`, ...headers }
  if (service.token !== undefined) all['Authorization'] = `Bearer ${service.token}`
  if (json !== undefined) all['Content-Type'] = 'application/json'
  if (method !== 'GET') all['Content-Length'] = String(Buffer.byteLength(json?.replaceAll(UNIQUE, SAMPLE) ?? ''))
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${json ?? ''}`
}
