import { createServer } from 'node:http'
import { join } from 'node:path'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import { openMasterKeys } from '../../src/credentials/master-keys.ts'
import { RevokedTokens } from '../../src/projections/sessions/token-revocations.ts'
import { createApp } from './app.ts'
import { authenticate } from './authenticate.ts'
import { StoneTable } from './stones.ts'

const TTL_SECONDS = 604_800
const [folder = '.', port = '0'] = process.argv.slice(2)

/** Tokens are verified as in the real service, but never revoked. */
const keys = openMasterKeys({ dataDir: folder, masterKey: undefined, masterKeyOld: undefined })
const tokens = new AccessTokens({ keys, ttl: TTL_SECONDS, clock: Date.now })
const revokedTokens = new RevokedTokens(TTL_SECONDS)
const isLive = revokedTokens.isLive.bind(revokedTokens)
const token = tokens.issue({ account: 1, accountEpoch: 0, client: 'bench', clientEpoch: 0 }, 'session', 0)

/**
 * `node main.js FOLDER PORT`: prints one line with an access token once it listens, and serves until it is terminated.
 */
const app = createApp({
  stones: new StoneTable(join(folder, 'stones.db')),
  authenticate: authenticate({ tokens, isLive }),
  address: `http://127.0.0.1:${port}`,
})
createServer(app.callback()).listen(Number(port), '127.0.0.1', () => console.log(JSON.stringify({ token })))
