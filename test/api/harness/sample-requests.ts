import type { Vendor } from './account.ts'
import type { Request } from './request.ts'
import { newSender } from './secrets.ts'
import type { Service } from './service.ts'
import { created, stone } from './stones.ts'

/** One request for each part of the service that responds to requests. */
export type SampleRequests = Readonly<
  Record<'one' | 'list' | 'create' | 'bulk' | 'share' | 'constants' | 'page' | 'nowhere', Request>
>

/** Requests that succeed, and the data that they need. */
export async function sampleRequests(service: Service, ann: Vendor): Promise<SampleRequests> {
  const { id } = await created(ann, { access: 2 })
  const sender = await newSender(service.installation)
  const bearer = { Authorization: `Bearer ${ann.token}` }
  const json = { ...bearer, 'Content-Type': 'application/json' }
  return {
    one: { path: `/v4/diamond/${id}`, headers: bearer },
    list: { path: '/v4/diamond', headers: bearer },
    create: { method: 'POST', path: '/v4/diamond', headers: json, body: JSON.stringify(stone()) },
    bulk: { method: 'POST', path: '/v4/diamond/bulk', headers: json, body: JSON.stringify({ entries: [stone()] }) },
    share: {
      method: 'POST',
      path: '/api/v1/share',
      headers: { Authorization: sender.authorization, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'secret=x',
    },
    constants: { path: '/v2/constants' },
    page: { path: `/diamond/${id}` },
    nowhere: { path: '/nowhere' },
  }
}

export const withHeaders = (request: Request, headers: Request['headers']): Request => ({
  ...request,
  headers: { ...request.headers, ...headers },
})

/** The bytes of a request. @param hosts its Host header lines */
export function rawBytes({ method = 'GET', path, headers = {}, body = '' }: Request, hosts: readonly string[]): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
  const length = typeof body === 'string' && body !== '' ? [`Content-Length: ${Buffer.byteLength(body)}`] : []
  const head = [`${method} ${path} HTTP/1.1`, ...hosts, ...lines, ...length, 'Connection: close', '', '']
  return head.join('\r\n') + String(body)
}
