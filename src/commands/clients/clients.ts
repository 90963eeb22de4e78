import { clientDecider, clientStream, isClientId, type Client, type ClientEvent } from '../../domain/client/client.ts'
import { randomBytes } from 'node:crypto'
import { digestOf, randomToken, sameDigest } from '../../credentials/digests.ts'
import type { GuessLimits } from '../../credentials/guess-limits.ts'
import type { NoteSecurity } from '../../domain/account/security-event.ts'
import * as domain from '../../domain/client/client.ts'
import { Refusal } from '../../domain/decider.ts'
import type { Origin } from '../../events/origin.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { handle, type Writing } from '../core/handle.ts'
import { load } from '../../events/load.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'

/** @throws what `decide` throws */
async function changeClient(
  writing: Writing,
  client: string,
  origin: Origin,
  decide: (client: Client) => ClientEvent[],
): Promise<{ client: string }> {
  await handle(writing, { stream: clientStream(client), origin }, clientDecider, decide)
  return { client }
}

/** `secret` is told this once; the log keeps its digest. */
export type ClientCredentials = { readonly client: string; readonly secret: string }

/** @throws Refusal invalid for a name that can't be used */
export async function registerClient(
  writing: Writing & { readonly clientIds: Pick<IdBlocks, 'take'> },
  name: string,
  origin: Origin,
): Promise<ClientCredentials> {
  const client = `${await writing.clientIds.take()}_${randomBase36()}`
  const secret = randomToken()
  await changeClient(writing, client, origin, (state) =>
    domain.registerClient(state, { name, secret: digestOf(secret) }),
  )
  return { client, secret }
}

/** 128 random bits in 25 digits and small letters. */
const randomBase36 = () =>
  BigInt(`0x${randomBytes(16).toString('hex')}`)
    .toString(36)
    .padStart(25, '0')

/**
 * Gives a client a new secret; the old one is refused from now on, tokens live on.
 * @throws Refusal missing
 */
export async function rotateClientSecret(writing: Writing, client: string, origin: Origin): Promise<ClientCredentials> {
  const secret = randomToken()
  await changeClient(writing, client, origin, (state) => domain.rotateSecret(state, { secret: digestOf(secret) }))
  return { client, secret }
}

/** The client gets no tokens any more, and those it got end. @throws Refusal missing */
export const disableClient = (writing: Writing, client: string, origin: Origin) =>
  changeClient(writing, client, origin, domain.disableClient)

/** The client gets tokens again; those that ended stay ended. @throws Refusal missing */
export const enableClient = (writing: Writing, client: string, origin: Origin) =>
  changeClient(writing, client, origin, domain.enableClient)

/** A client that has shown its secret. */
export type VerifiedClient = { readonly client: string; readonly clientEpoch: number }

/** The client is unknown, disabled, or its secret is wrong: which, is nobody's business. */
export class ClientRefused extends Refusal {
  constructor(message = 'The client credentials are invalid') {
    super('unauthenticated', message)
  }
}

export type ClientCheck = {
  readonly store: EventStore
  readonly guesses: GuessLimits
  readonly security: NoteSecurity
}

/** @throws ClientRefused, or Refusal too-many */
export async function verifyClient(
  { store, guesses, security }: ClientCheck,
  { client, secret, address }: { client: string; secret: string; address: string },
): Promise<VerifiedClient> {
  const { state } = isClientId(client)
    ? await load(store, clientStream(client), clientDecider)
    : { state: clientDecider.initialState }
  const right = sameDigest(digestOf(secret), state.status === 'unknown' ? '' : state.secret)
  if (state.status === 'enabled' && right) return { client, clientEpoch: state.epoch }
  guesses.wrong('client secret', address)
  security({ event: 'wrong-client-secret', client: state.status === 'unknown' ? null : client, address })
  throw new ClientRefused()
}
