import { UNIQUE } from './load/measure.ts'
import type { Service } from './services/service.ts'

/** What the numbers that replace UNIQUE look like, for counting a body's bytes. */
const SAMPLE = '000000000'

export type Ask = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The bytes of a request, as text for the load generator; with the service's token. */
export function requestText({ port, token }: Service, { method, path, headers = {}, body }: Ask): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  if (body !== undefined) {
    const length = Buffer.byteLength(text.replaceAll(UNIQUE, SAMPLE))
    lines.push('Content-Type: application/json', `Content-Length: ${length}`)
  } else if (method !== 'GET') lines.push('Content-Length: 0')
  return `${lines.join('\r\n')}\r\n\r\n${text}`
}
