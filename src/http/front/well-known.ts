import { z } from 'zod'
import { Refusal } from '../../domain/decider.ts'
import { answer, bytes, ok } from '../kit/answer.ts'
import { anybody, endpoint } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'
import { GRANT_TYPE, GRANT_TYPES } from '../oauth/token.ts'

export type WellKnownServices = {
  readonly wellKnown: {
    /** SECURITY_CONTACT as an address that a program can follow; undefined where it is not set. */
    readonly contact: string | undefined
    /** BASE_URL, without a slash at its end. */
    readonly address: string
    /** Milliseconds since 1970, UTC. */
    readonly clock: () => number
  }
}

const TEXT = 'text/plain; charset=utf-8'
const A_DAY = { 'Cache-Control': 'public, max-age=86400' }

/** Pages that are not public say so themselves, by X-Robots-Tag. */
const ROBOTS = 'User-agent: *\nAllow: /$\nAllow: /docs\nAllow: /diamond/\nDisallow: /\n'

export const readRobots = endpoint({
  name: 'readRobots',
  method: 'GET',
  path: '/robots.txt',
  about: 'What search engines may list: the front page, the reference, and report pages, of which private ones say so.',
  who: anybody,
  family: platform,
  forBrowsers: true,
  headers: A_DAY,
  answers: { 200: { about: 'The rules (RFC 9309)', media: 'text/plain' } },
  run: () => answer(200, ROBOTS, { 'Content-Type': TEXT }),
})

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#1d4ed8" stroke-width="1.5" ' +
  'stroke-linejoin="round"><path d="M7 4h10l4.5 5.5L12 21 2.5 9.5 7 4Z"/><path d="M2.5 9.5h19M12 21 8.5 9.5 12 4l3.5 5.5L12 21Z"/></svg>'

export const readIcon = endpoint({
  name: 'readIcon',
  method: 'GET',
  path: '/favicon.ico',
  about: 'The icon that browsers ask for.',
  who: anybody,
  family: platform,
  forBrowsers: true,
  headers: A_DAY,
  answers: { 200: { about: 'A diamond', media: 'image/svg+xml' } },
  run: () => bytes(200, 'image/svg+xml', Buffer.from(ICON)),
})

/** Days for which the contact may be taken to be right. */
const GOOD_FOR = 180
const DAY = 86_400_000

export const readSecurityContact = endpoint({
  name: 'readSecurityContact',
  method: 'GET',
  path: '/.well-known/security.txt',
  about: 'Whom to tell of a weakness (RFC 9116).',
  who: anybody,
  family: platform,
  forBrowsers: true,
  headers: A_DAY,
  answers: { 200: { about: 'The contact', media: 'text/plain' }, 404: 'SECURITY_CONTACT is not set' },
  run(_asked, { wellKnown: { contact, address, clock } }: WellKnownServices) {
    if (contact === undefined) throw new Refusal('missing', 'No contact is set up here')
    const until = new Date(Math.floor(clock() / DAY + GOOD_FOR) * DAY).toISOString()
    const lines = [`Contact: ${contact}`, `Expires: ${until}`, `Canonical: ${address}/.well-known/security.txt`]
    return answer(200, `${lines.join('\n')}\n`, { 'Content-Type': TEXT })
  },
})

export type AuthorizationServerServices = {
  readonly authorizationServer: {
    /** AUTH_URL, without a slash at its end. */
    readonly address: string
  }
}

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

/** Without an authorization endpoint there is no response type, and a claim without elements must be left out (3.2). */
function metadataOf(address: string): z.output<typeof Metadata> {
  const at = (name: string) => `${address}/api/oauth/v2/${name}`
  return {
    issuer: address,
    token_endpoint: at('token'),
    token_endpoint_auth_methods_supported: [...AUTHENTICATION],
    grant_types_supported: [...GRANT_TYPES],
    scopes_supported: ['user'],
    revocation_endpoint: at('revoke'),
    revocation_endpoint_auth_methods_supported: [...AUTHENTICATION],
    introspection_endpoint: at('introspect'),
    introspection_endpoint_auth_methods_supported: [...AUTHENTICATION],
  }
}

export const describeAuthorizationServer = endpoint({
  name: 'describeAuthorizationServer',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  about: 'Where the token server is and what it knows (RFC 8414), for programs that set themselves up.',
  who: anybody,
  family: platform,
  headers: { 'Cache-Control': 'public, max-age=3600' },
  answers: {
    200: { about: 'Its addresses and methods.', schema: Metadata, example: metadataOf('https://auth.example.com') },
  },
  run: (_asked, { authorizationServer: { address } }: AuthorizationServerServices) => ok(metadataOf(address)),
})
