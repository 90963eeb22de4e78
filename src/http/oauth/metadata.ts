import { z } from 'zod'
import { ok } from '../kit/answer.ts'
import { anybody, endpoint } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'
import { GRANT_TYPE, GRANT_TYPES } from './token.ts'

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
