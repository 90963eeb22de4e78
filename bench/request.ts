import { UNIQUE } from './load/measure.ts'

/** What stands for UNIQUE when a body's bytes are counted. */
const SAMPLE = '000000000'

export type Ask = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: string
}

/** What a proxy in front adds, and a tracing system that it asks. */
export const PROXIED = {
  'X-Forwarded-For': '198.51.100.7, 203.0.113.9',
  'X-Forwarded-Proto': 'https',
  'X-Request-Id': '0af7651916cd43dd8448eb211c80319c',
} as const

/** The same requests as a proxy hands them on: they have to be answered as fast. */
export const proxied = (asks: readonly Ask[]): Ask[] =>
  asks.map((ask) => ({ ...ask, headers: { ...ask.headers, ...PROXIED } }))

/** A request as the load generator sends it; with the token, where there is one. */
export function requestText(service: { readonly port: number; readonly token?: string }, ask: Ask): string {
  const { method, path, headers = {}, json } = ask
  const all: Record<string, string> = { Host: `127.0.0.1:${service.port}`, ...headers }
  if (service.token !== undefined) all['Authorization'] = `Bearer ${service.token}`
  if (json !== undefined) all['Content-Type'] = 'application/json'
  if (method !== 'GET') all['Content-Length'] = String(Buffer.byteLength(json?.replaceAll(UNIQUE, SAMPLE) ?? ''))
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${json ?? ''}`
}
