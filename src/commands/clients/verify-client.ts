import { clientDecider } from '../../domain/client/client.ts'
import { digestOf, sameDigest } from '../../credentials/digests.ts'
import type { GuessLimits } from '../../credentials/guess-limits.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { NoteSecurity } from '../../domain/account/security-event.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { clientStream, isClientId } from './clients.ts'
import { load } from '../core/load.ts'

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
