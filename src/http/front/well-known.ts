import { z } from 'zod'
import { RequestError } from '../../domain/request-error.ts'
import { createResponse, contentResponse, ok } from '../kit/response.ts'
import { publicAccess, endpoint } from '../kit/endpoint.ts'
import { platformGroup } from '../kit/errors.ts'
import { gem } from '../kit/page.ts'
import type { UrlServices } from '../kit/public-urls.ts'
import { GRANT_TYPE, GRANT_TYPES } from '../oauth/token.ts'

export type WellKnownServices = {
  readonly wellKnown: {
    /** SECURITY_CONTACT as a URI; undefined if it is not set. */
    readonly contact: string | undefined
    /** Milliseconds since 1970, UTC. */
    readonly clock: () => number
  }
}

const TEXT = 'text/plain; charset=utf-8'
const CACHE_FOR_A_DAY = { 'Cache-Control': 'public, max-age=86400' }

/** Report pages that are not public have an X-Robots-Tag header. */
const ROBOTS = 'User-agent: *\nAllow: /$\nAllow: /docs\nAllow: /diamond/\nDisallow: /\n'

export const readRobots = endpoint({
  operationId: 'readRobots',
  method: 'GET',
  path: '/robots.txt',
  summary:
    'Retrieve robots.txt. It allows the front page, the API reference and report pages; private ones send `X-Robots-Tag`.',
  auth: publicAccess,
  group: platformGroup,
  isBrowserOnly: true,
  headers: CACHE_FOR_A_DAY,
  responses: { 200: { description: 'The rules (RFC 9309)', mediaType: 'text/plain' } },
  handler: () => createResponse(200, ROBOTS, { 'Content-Type': TEXT }),
})

const ICON = gem('xmlns="http://www.w3.org/2000/svg" stroke="#1d4ed8"')

export const readIcon = endpoint({
  operationId: 'readIcon',
  method: 'GET',
  path: '/favicon.ico',
  summary: 'Retrieve the favicon',
  auth: publicAccess,
  group: platformGroup,
  isBrowserOnly: true,
  headers: CACHE_FOR_A_DAY,
  responses: { 200: { description: 'The icon', mediaType: 'image/svg+xml' } },
  handler: () => contentResponse(200, 'image/svg+xml', Buffer.from(ICON)),
})

/** For the `Expires` field. */
const CONTACT_VALIDITY_DAYS = 180
const DAY_MS = 86_400_000

export const readSecurityContact = endpoint({
  operationId: 'readSecurityContact',
  method: 'GET',
  path: '/.well-known/security.txt',
  summary: 'Retrieve the contact for reporting vulnerabilities (RFC 9116)',
  auth: publicAccess,
  group: platformGroup,
  isBrowserOnly: true,
  headers: CACHE_FOR_A_DAY,
  responses: { 200: { description: 'The contact', mediaType: 'text/plain' }, 404: 'SECURITY_CONTACT is not set' },
  handler(_ctx, { wellKnown: { contact, clock }, urls }: WellKnownServices & UrlServices) {
    if (contact === undefined) throw new RequestError('missing', 'No security contact is configured')
    const expires = new Date(Math.floor(clock() / DAY_MS + CONTACT_VALIDITY_DAYS) * DAY_MS).toISOString()
    const lines = [`Contact: ${contact}`, `Expires: ${expires}`, `Canonical: ${urls.base}/.well-known/security.txt`]
    return createResponse(200, `${lines.join('\n')}\n`, { 'Content-Type': TEXT })
  },
})

const AUTHENTICATION = ['client_secret_basic', 'client_secret_post'] as const
const METHODS = z.array(z.enum(AUTHENTICATION).meta({ id: 'ClientAuthentication' }))

const Metadata = z.object({
  issuer: z.url(),
  token_endpoint: z.url(),
  token_endpoint_auth_methods_supported: METHODS,
  grant_types_supported: z.array(GRANT_TYPE),
  scopes_supported: z.array(z.literal('user')),
  revocation_endpoint: z.url(),
  revocation_endpoint_auth_methods_supported: METHODS,
  introspection_endpoint: z.url(),
  introspection_endpoint_auth_methods_supported: METHODS,
})

/**
 * RFC 8414. There is no authorization endpoint and so no response type, and a claim without elements must be omitted
 * (section 3.2).
 */
function metadataOf(baseUrl: string): z.output<typeof Metadata> {
  const endpointUrl = (name: string) => `${baseUrl}/api/oauth/v2/${name}`
  return {
    issuer: baseUrl,
    token_endpoint: endpointUrl('token'),
    token_endpoint_auth_methods_supported: [...AUTHENTICATION],
    grant_types_supported: [...GRANT_TYPES],
    scopes_supported: ['user'],
    revocation_endpoint: endpointUrl('revoke'),
    revocation_endpoint_auth_methods_supported: [...AUTHENTICATION],
    introspection_endpoint: endpointUrl('introspect'),
    introspection_endpoint_auth_methods_supported: [...AUTHENTICATION],
  }
}

export const describeAuthorizationServer = endpoint({
  operationId: 'describeAuthorizationServer',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  summary: 'Retrieve the authorization server metadata (RFC 8414)',
  auth: publicAccess,
  group: platformGroup,
  headers: { 'Cache-Control': 'public, max-age=3600' },
  responses: {
    200: {
      description: 'The endpoints and supported methods.',
      schema: Metadata,
      example: metadataOf('https://auth.example.com'),
    },
  },
  handler: (_ctx, { urls }: UrlServices) => ok(metadataOf(urls.auth)),
})
