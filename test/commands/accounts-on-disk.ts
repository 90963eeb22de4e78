import { AccountDirectory } from '../../src/commands/accounts/account-directory.ts'
import { openSqliteVault } from '../../src/stores/sqlite/vault.ts'
import type { PersonStore } from '../../src/stores/ports/person-store.ts'
import type { Vault } from '../../src/stores/ports/vault.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { ApiTokenUseRecorder } from '../../src/commands/accounts/api-tokens.ts'
import { IdAllocator } from '../../src/commands/installation/id-allocator.ts'
import { openSession, type LogInContext } from '../../src/commands/sessions/sessions.ts'
import type { RegistrationContext } from '../../src/commands/accounts/accounts.ts'
import { registerClient, verifyClient, type VerifiedClient } from '../../src/commands/clients/clients.ts'
import { createCommandContext } from '../../src/commands/core/command-context.ts'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import { FailedAttemptLimiter } from '../../src/credentials/failed-attempt-limiter.ts'
import { FamiliarAddresses } from '../../src/credentials/familiar-addresses.ts'
import type { SecurityEvent } from '../../src/domain/account/security-event.ts'
import { openMasterKeys } from '../../src/credentials/master-keys.ts'
import { PasswordHasher } from '../../src/credentials/password-hasher.ts'
import { createLogger } from '../../src/runtime/logger.ts'
import { TokenRevocationList } from '../../src/projections/sessions/token-revocations.ts'
import { openSqliteEventStore } from '../../src/stores/sqlite/events.ts'
import { CHEAP_HASHES } from '../credentials/cheap-hashes.ts'

export const cli = { actor: 'operator', via: 'cli', correlation: 'test' } as const
export const http = { actor: 'anonymous', via: 'http', correlation: 'test' } as const

/** A clock that a test moves: milliseconds since 1970. */
export type Clock = { now: number }

export type Process = LogInContext &
  RegistrationContext & {
    readonly clientIds: IdAllocator
    readonly feed: TokenRevocationList
    readonly persons: PersonStore
    readonly vault: Vault
    readonly passwords: PasswordHasher
    /** The security events of this process, oldest first. */
    readonly securityEvents: readonly SecurityEvent[]
    readonly clock: () => number
    readonly monotonic: () => number
    readonly useRecorder: ApiTokenUseRecorder
    close(): Promise<void>
  }

/** All processes share one key, as processes on one data folder do. */
const keys = openMasterKeys({ dataDir: '', masterKey: randomBytes(32).toString('base64'), masterKeyOld: undefined })

/** All processes share one hashing thread: it starts on demand and ends when idle. */
const passwords = new PasswordHasher(CHEAP_HASHES.passwords)

/** Opens what one service process needs for accounts and tokens, on an event log in a SQLite file. */
export async function openProcess(file: string, time: Clock): Promise<Process> {
  const store = openSqliteEventStore(file)
  const clock = () => time.now
  const tokens = new AccessTokens({ keys, ttl: 604_800, clock })
  const familiarAddresses = new FamiliarAddresses(keys)
  const feed = new TokenRevocationList({
    store,
    ttlSeconds: 604_800,
    clock,
    monotonic: clock,
    loginLocations: familiarAddresses,
    linkKeys: { note: () => {} },
    log: createLogger('error'),
  })
  await feed.start()
  const vault = openSqliteVault(join(file, '..', 'vault.db'))
  const plain = createCommandContext(store, clock)
  const people = new AccountDirectory(plain, vault.persons, keys)
  const context = { ...plain, people }
  const securityEvents: SecurityEvent[] = []
  const security = (event: SecurityEvent) => void securityEvents.push(event)
  const ids = { ...plain, size: 1, origin: cli }
  return {
    ...context,
    persons: vault.persons,
    vault,
    monotonic: clock,
    useRecorder: new ApiTokenUseRecorder(context, clock, (error) => console.error(error)),
    tokens,
    feed,
    passwords,
    refreshTtl: 1_209_600,
    logEpoch: () => feed.logEpoch,
    attemptLimiter: new FailedAttemptLimiter(clock, security),
    familiarAddresses,
    security,
    securityEvents,
    note: (event) => feed.applyEvent(event),
    accountIds: new IdAllocator({ ...ids, kind: 'account' }),
    clientIds: new IdAllocator({ ...ids, kind: 'client' }),
    async close() {
      await feed.stop()
      await store.close()
      await vault.close()
    },
  }
}

/** Runs with the path of a new log file, and deletes it afterwards. */
export async function withLogFile(run: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-accounts-'))
  try {
    await run(join(folder, 'events.db'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const clientOf = async (process: Process): Promise<VerifiedClient> => {
  const { client, secret } = await registerClient(process, 'shop', cli)
  return verifyClient(process, { client, secret, address: '192.0.2.1' })
}

export const ann = { email: 'Ann@Example.com', password: 'correct horse', plan: 'basic' } as const

/** Logs Ann in through a client. */
export const logIn = (process: Process, client: VerifiedClient, password: string = ann.password) =>
  openSession(process, { username: ann.email, password, address: '192.0.2.1', client }, http)

/** Whether a process accepts an access token. Waits for the next event loop turn first, as an external request does. */
export async function isLive(process: Process, accessToken: string): Promise<boolean> {
  await new Promise((done) => setImmediate(done))
  const claims = process.tokens.verify(accessToken)
  return typeof claims === 'string' ? false : process.feed.isLive(claims)
}
