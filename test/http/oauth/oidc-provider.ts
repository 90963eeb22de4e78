import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errors, Provider, type KoaContextWithOIDC } from 'oidc-provider'
import type { TokenServer } from '../../contract/token-server.ts'

const USER = { username: 'ann@example.com', password: 'correct horse battery staple' }
const CLIENTS = {
  client: { id: 'shop', secret: 'a secret with a : and a %' },
  formClient: { id: 'till', secret: 'till-secret' },
  otherClient: { id: 'other', secret: 'other-secret' },
}

/** oidc-provider, an independent token server, with the password grant added, which it doesn't include. */
export async function withOidcProvider(run: (server: TokenServer) => Promise<void>): Promise<void> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(address, {
    clients: Object.entries(CLIENTS).map(([name, { id, secret }]) => ({
      client_id: id,
      client_secret: secret,
      grant_types: ['password', 'refresh_token'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: name === 'formClient' ? 'client_secret_post' : 'client_secret_basic',
    })),
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => client.clientId === token.clientId },
      revocation: { enabled: true },
    },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    rotateRefreshToken: true,
    scopes: ['user', 'offline_access'],
  })
  provider.registerGrantType('password', (ctx) => logIn(provider, ctx), ['username', 'password', 'scope'], [])
  server.on('request', provider.callback())
  try {
    await run({ address, issuer: address, user: USER, ...CLIENTS, skipGracePeriod: () => undefined })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** RFC 6749, section 4.3. */
async function logIn(provider: Provider, ctx: KoaContextWithOIDC): Promise<void> {
  const { client, params } = ctx.oidc
  const { username, password } = params ?? {}
  if (client === undefined || password === undefined) throw new errors.InvalidRequest('no password')
  if (username !== USER.username || password !== USER.password) throw new errors.InvalidGrant('a wrong password')
  const accountId = '1'
  const grant = new provider.Grant({ accountId, clientId: client.clientId })
  grant.addOIDCScope('user')
  const grantId = await grant.save()
  const given = { accountId, client, grantId, gty: 'password', scope: 'user' }
  const access = new provider.AccessToken({ ...given, expiresWithSession: false })
  const refresh = new provider.RefreshToken({ ...given, expiresWithSession: false })
  ctx.body = {
    access_token: await access.save(),
    expires_in: access.expiration,
    token_type: access.tokenType,
    scope: 'user',
    refresh_token: await refresh.save(),
  }
}
