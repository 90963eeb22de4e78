import type { GuessLimits } from '../../credentials/guess-limits.ts'
import type { LogInPlaces } from '../../credentials/log-in-places.ts'
import type { Passwords } from '../../credentials/passwords.ts'
import { normaliseEmail } from '../../domain/account/login.ts'
import { carried } from '../../domain/installation/installation.ts'
import { GrantRefused, open } from '../../domain/session/session.ts'
import { handle } from '../core/handle.ts'
import { accountStream, findAccount, type Known } from '../accounts/accounts.ts'
import type { Origin } from '../../events/origin.ts'
import {
  grant,
  newRefreshToken,
  newSession,
  noteAll,
  sessionDeciderFor,
  sessionStream,
  type Granted,
  type Sessions,
} from './sessions.ts'
import type { VerifiedClient } from '../clients/verify-client.ts'

export type OpeningSessions = Sessions & {
  readonly passwords: Pick<Passwords, 'matches'>
  readonly guesses: GuessLimits
  /** From where accounts have logged in. */
  readonly places: LogInPlaces
}

export type LogIn = {
  readonly username: string
  readonly password: string
  readonly address: string
  readonly client: VerifiedClient
}

/**
 * Opens a session for who knows the password.
 * @throws GrantRefused, the same for an unknown user, a disabled one and a wrong password; Refusal too-many
 */
export async function openSession(sessions: OpeningSessions, logIn: LogIn, origin: Origin): Promise<Granted> {
  const { account, epoch } = await verifyPassword(sessions, logIn, origin)
  const token = newRefreshToken(newSession())
  const wish = {
    stream: sessionStream(token.session),
    origin: { ...origin, actor: `account-${account}` },
  }
  const opened = await handle(sessions, wish, sessionDeciderFor(), (session, now) =>
    open(session, {
      account,
      accountEpoch: epoch,
      ...logIn.client,
      ...carried(sessions.logEpoch()),
      digest: token.digest,
      number: 0,
      at: now,
      expiresAt: now + sessions.refreshTtl * 1000,
      from: sessions.places.mark(account, logIn.address),
    }),
  )
  noteAll(sessions, wish, opened.events)
  if (opened.state.status !== 'open') throw new Error(`${wish.stream} did not open`)
  return grant(sessions, token, opened.state.current)
}

async function verifyPassword(
  { store, people, clock, passwords, guesses, places, security }: OpeningSessions,
  { username, password, address, client }: LogIn,
  { correlation }: Origin,
): Promise<Known> {
  const known = await findAccount({ store, people }, username)
  // As many streams are read for nobody as for somebody, and so it takes as long.
  if (known === undefined) await store.read(accountStream(0))
  const subject = known?.account ?? `account ${normaliseEmail(username)}`
  const familiar = known !== undefined && places.isFamiliar(known.account, address, clock())
  const right = await guesses.attempt({ subject, address, familiar }, async () => {
    const matches = await passwords.matches(password, known?.password, address)
    return matches && known?.status === 'enabled'
  })
  const tried = { account: known?.account ?? null, client: client.client, address, request: correlation }
  security({ event: right ? 'log-in' : 'log-in-failed', ...tried })
  if (!right || known === undefined) throw new GrantRefused('Invalid username and password combination')
  return known
}
