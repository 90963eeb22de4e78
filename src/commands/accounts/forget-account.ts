import { burn, expiresAt, secretFold, type Secret } from '../../domain/secret/secret.ts'
import { loginFold, releaseLogin } from '../../domain/account/login.ts'
import {
  accountFold,
  accountStream,
  forget,
  parseAccountNumber,
  type Account,
  type AccountEvent,
} from '../../domain/account/account.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { PersonStore } from '../../stores/ports/person-store.ts'
import type { Vault } from '../../stores/ports/vault.ts'
import { handle } from '../core/handle.ts'
import { deleteWebhook, webhooksOf } from '../webhooks/webhooks.ts'
import { type AccountCommandContext } from './accounts.ts'
import type { LoginReference } from './account-directory.ts'

type ForgetAccountContext = AccountCommandContext & { readonly persons: PersonStore; readonly vault: Vault }

/**
 * `events`: number of events appended now. `plaintextStreams`: streams in which events of earlier releases hold the
 * address in plain text; it stays there.
 */
export type ForgetAccountResult = {
  readonly account: number
  readonly events: number
  readonly plaintextStreams: readonly string[]
}

/**
 * Finds a login by e-mail address or account number.
 * @throws RequestError 'missing'
 */
export async function requireLogin(
  { store, people }: AccountCommandContext,
  emailOrAccountId: string,
): Promise<LoginReference> {
  const accountId = parseAccountNumber(emailOrAccountId)
  if (accountId !== undefined) return requireLoginByAccountId(store, accountId)
  const found = await people.findLogin(emailOrAccountId)
  if (found === undefined) throw await people.noAccountError(emailOrAccountId)
  return found
}

/** The latest reservation that was not released. @throws RequestError 'missing' */
async function requireLoginByAccountId(store: EventStore, account: number): Promise<LoginReference> {
  let wasReserved = false
  let found: LoginReference | undefined
  for await (const { stream, type, data } of store.readAll('start', { prefixes: ['login-'] })) {
    if (data['account'] !== account) continue
    wasReserved = true
    if (type === 'LoginReserved') found = { stream, account }
    else if (found?.stream === stream) found = undefined
  }
  if (found !== undefined) return found
  throw new RequestError(
    'missing',
    wasReserved ? `Account ${account} was forgotten before` : `There is no account ${account}`,
  )
}

/**
 * Erases the person behind an account. The event log stays as it is. The e-mail address, webhooks and pending secrets
 * are deleted, and sessions and tokens revoked. The login is released last, so that after an interruption the same
 * command finds the account and resumes.
 * @throws StoreUnavailable
 */
export async function forgetAccount(
  context: ForgetAccountContext,
  { account, stream }: LoginReference,
  origin: Origin,
): Promise<ForgetAccountResult> {
  const { store, persons, vault } = context
  const plaintextStreams = await findPlaintextStreams(store, [stream, accountStream(account)])
  let eventCount = await endAccount(context, account, origin)
  eventCount += await endWebhooks(context, account, origin)
  eventCount += await burnPendingSecrets(context, account, origin)
  await persons.forget([account])
  // If a running service has the vault open, it shreds the deleted entries itself within seconds.
  await vault.shred()
  const released = await handle(context, { stream, origin }, loginFold, (login) => releaseLogin(login, { account }))
  return { account, events: eventCount + released.events.length, plaintextStreams }
}

/** Also revokes sessions and tokens. An account whose registration was never completed has none. */
async function endAccount(context: ForgetAccountContext, account: number, origin: Origin): Promise<number> {
  const target = { stream: accountStream(account), origin }
  const decide = (state: Account): AccountEvent[] => (state.status === 'unknown' ? [] : forget(state))
  return (await handle(context, target, accountFold, decide)).events.length
}

async function endWebhooks(context: ForgetAccountContext, owner: number, origin: Origin): Promise<number> {
  const webhooks = await webhooksOf(context.store, owner)
  for (const { id } of webhooks) await deleteWebhook(context, { owner, id }, origin)
  return webhooks.length
}

/** Burns the account's pending secrets and deletes their vault entries and queued mails, which contain addresses. */
async function burnPendingSecrets(context: ForgetAccountContext, owner: number, origin: Origin): Promise<number> {
  const { store, vault } = context
  let eventCount = 0
  const streams: string[] = []
  for await (const { stream, type, data } of store.readAll('start', { prefixes: ['secret-'] })) {
    if (type === 'SecretShared' && data['owner'] === owner) streams.push(stream)
  }
  for (const stream of streams) {
    const decide = (secret: Secret, now: number) => (isPending(secret, now) ? burn(secret, now, 'owner') : [])
    eventCount += (await handle(context, { stream, origin }, secretFold, decide)).events.length
    await vault.end([{ digest: stream.slice('secret-'.length) }])
  }
  return eventCount
}

const isPending = (secret: Secret, now: number) => secret.status === 'new' && now < expiresAt(secret)

/** The streams with events of earlier releases that contain an address. */
async function findPlaintextStreams(store: EventStore, streams: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const stream of streams) {
    if ((await store.readStream(stream)).some(({ data }) => typeof data['email'] === 'string')) found.push(stream)
  }
  return found
}
