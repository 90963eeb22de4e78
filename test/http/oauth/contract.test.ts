import { registerClient } from '../../../src/commands/clients/clients.ts'
import { ann, cli } from '../../commands/accounts-on-disk.ts'
import { tokenServerContract } from '../../contract/token-server.ts'
import { withOidcProvider } from './oidc-provider.ts'
import { withTokenServer } from './token-server.ts'

tokenServerContract('ours', (run) =>
  withTokenServer(
    async ({ address, client, process, time }) => {
      const other = await registerClient(process, 'other', cli)
      const own = { id: client.client, secret: client.secret }
      await run({
        address,
        issuer: 'https://auth.example.com',
        user: { username: ann.email, password: ann.password },
        client: own,
        formClient: own,
        otherClient: { id: other.client, secret: other.secret },
        skipGracePeriod: () => void (time.now += 11_000),
      })
    },
    { cheap: true },
  ),
)

tokenServerContract('oidc-provider', withOidcProvider)
