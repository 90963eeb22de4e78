import { Router } from '@koa/router'
import type { Resource } from '../kit/app.ts'
import type { RequestState } from '../kit/request.ts'
import { GRANT_TYPES } from './token.ts'

const AUTHENTICATION = ['client_secret_basic', 'client_secret_post']

/**
 * `GET /.well-known/oauth-authorization-server` (RFC 8414). Without an authorization endpoint there is no response type,
 * and a claim without elements must be left out (section 3.2).
 * @param address AUTH_URL, without a slash at its end
 */
export function metadataResource(address: string): Resource {
  const endpoint = (name: string) => `${address}/api/oauth/v2/${name}`
  const metadata = {
    issuer: address,
    token_endpoint: endpoint('token'),
    token_endpoint_auth_methods_supported: AUTHENTICATION,
    grant_types_supported: GRANT_TYPES,
    scopes_supported: ['user'],
    revocation_endpoint: endpoint('revoke'),
    revocation_endpoint_auth_methods_supported: AUTHENTICATION,
    introspection_endpoint: endpoint('introspect'),
    introspection_endpoint_auth_methods_supported: AUTHENTICATION,
  }
  const router = new Router<RequestState>()
  router.get('/.well-known/oauth-authorization-server', (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=3600')
    ctx.body = metadata
  })
  return { prefix: '/.well-known', router }
}
