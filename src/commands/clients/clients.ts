import { clientFold, clientStream, isClientId, type Client, type ClientEvent } from '../../domain/client/client.ts'
import { randomBytes } from 'node:crypto'
import { tokenDigest, randomToken, sameDigest } from '../../credentials/digests.ts'
import type { FailedAttemptLimiter } from '../../credentials/failed-attempt-limiter.ts'
import type { SecurityEventRecorder } from '../../domain/account/security-event.ts'
import * as domain from '../../domain/client/client.ts'
import { RequestError } from '../../domain/request-error.ts'
import type { Origin } from '../../events/event-metadata.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { handle } from '../core/handle.ts'
import type { CommandContext } from '../core/command-context.ts'
import { loadStream } from '../../events/load-stream.ts'
import type { IdAllocator } from '../installation/id-allocator.ts'

/** @throws whatever `decide` throws */
async function changeClient(
  context: CommandContext,
  client: string,
  origin: Origin,
  decide: (client: Client) => ClientEvent[],
): Promise<{ client: string }> {
  await handle(context, { stream: clientStream(client), origin }, clientFold, decide)
  return { client }
}

/** `secret` is returned only here; the event log stores its digest. */
export type ClientCredentials = { readonly client: string; readonly secret: string }

/** @throws RequestError 'invalid' for an unacceptable name */
export async function registerClient(
  context: CommandContext & { readonly clientIds: Pick<IdAllocator, 'take'> },
  name: string,
  origin: Origin,
): Promise<ClientCredentials> {
  const client = `${await context.clientIds.take()}_${randomBase36()}`
  const secret = randomToken()
  await changeClient(context, client, origin, (state) =>
    domain.registerClient(state, { name, secret: tokenDigest(secret) }),
  )
  return { client, secret }
}

/** 128 random bits as 25 lower-case base-36 characters. */
const randomBase36 = () =>
  BigInt(`0x${randomBytes(16).toString('hex')}`)
    .toString(36)
    .padStart(25, '0')

/**
 * Gives a client a new secret. The old one stops working immediately; issued tokens stay valid.
 * @throws RequestError 'missing'
 */
export async function rotateClientSecret(
  context: CommandContext,
  client: string,
  origin: Origin,
): Promise<ClientCredentials> {
  const secret = randomToken()
  await changeClient(context, client, origin, (state) => domain.rotateSecret(state, { secret: tokenDigest(secret) }))
  return { client, secret }
}

/** Blocks the client and revokes its tokens. @throws RequestError 'missing' */
export const disableClient = (context: CommandContext, client: string, origin: Origin) =>
  changeClient(context, client, origin, domain.disableClient)

/** Unblocks the client. Revoked tokens stay revoked. @throws RequestError 'missing' */
export const enableClient = (context: CommandContext, client: string, origin: Origin) =>
  changeClient(context, client, origin, domain.enableClient)

export type VerifiedClient = { readonly client: string; readonly clientEpoch: number }

/** The client is unknown, disabled, or its secret is wrong. The error deliberately does not say which. */
export class ClientRefused extends RequestError {
  constructor(message = 'The client credentials are invalid') {
    super('unauthenticated', message)
  }
}

type ClientVerificationContext = {
  readonly store: EventStore
  readonly attemptLimiter: FailedAttemptLimiter
  readonly security: SecurityEventRecorder
}

/** @throws ClientRefused, RequestError 'too-many' */
export async function verifyClient(
  { store, attemptLimiter, security }: ClientVerificationContext,
  { client, secret, address }: { client: string; secret: string; address: string },
): Promise<VerifiedClient> {
  const { state } = isClientId(client)
    ? await loadStream(store, clientStream(client), clientFold)
    : { state: clientFold.initialState }
  const isSecretCorrect = sameDigest(tokenDigest(secret), state.status === 'unknown' ? '' : state.secret)
  if (state.status === 'enabled' && isSecretCorrect) return { client, clientEpoch: state.epoch }
  attemptLimiter.recordWrongCredential('client secret', address)
  security({ event: 'wrong-client-secret', client: state.status === 'unknown' ? null : client, address })
  throw new ClientRefused()
}
