import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'
import type { Fold } from '../fold.ts'
import { RequestError } from '../request-error.ts'
import { visibleText } from '../visible-text.ts'

const secret = z.string().describe('SHA-256 of the secret')

/** @param client its public id, for example `3_f00dbabe` */
export const clientStream = (client: string) => `client-${client}`

export const isClientId = (text: string) => /^[1-9]\d{0,15}_[0-9a-z]{1,64}$/.test(text)

/**
 * An OAuth client. `secret` is a SHA-256 digest of 256 random bits. `epoch` is incremented when the client's tokens are
 * revoked. Rotating the secret revokes none, so that a client can switch to the new secret without an outage.
 */
export const clientEvents = declareEvents('client-{id}', {
  ClientRegistered: {
    about: 'An OAuth client was registered.',
    payload: z.object({ name: z.string(), secret }),
    notShown: ['secret'],
  },
  ClientSecretRotated: {
    about: 'The client secret was replaced: the old one is rejected, tokens stay valid.',
    payload: z.object({ secret }),
    notShown: ['secret'],
  },
  ClientDisabled: {
    about: 'The client was disabled: it gets no new tokens, and its tokens were revoked.',
    payload: z.object({
      epoch: z
        .int()
        .min(1)
        .describe('incremented when the tokens are revoked: a token with an earlier epoch is invalid'),
    }),
  },
  ClientEnabled: {
    about: 'The client was enabled: it gets tokens again. Revoked tokens stay revoked.',
    payload: z.object({}),
  },
})
export type ClientEvent = EventOf<typeof clientEvents>

export type RegisteredClient = {
  readonly status: 'enabled' | 'disabled'
  readonly name: string
  readonly secret: string
  readonly epoch: number
}
export type Client = { readonly status: 'unknown' } | RegisteredClient

export const clientFold: Fold<Client, ClientEvent> = { initialState: { status: 'unknown' }, evolve }

function evolve(client: Client, event: ClientEvent): Client {
  if (event.type === 'ClientRegistered') return { status: 'enabled', ...event.data, epoch: 0 }
  if (client.status === 'unknown') return client
  switch (event.type) {
    case 'ClientSecretRotated':
      return { ...client, secret: event.data.secret }
    case 'ClientDisabled':
      return { ...client, status: 'disabled', epoch: event.data.epoch }
    case 'ClientEnabled':
      return { ...client, status: 'enabled' }
    default:
      return client
  }
}

export function registerClient(client: Client, { name, secret }: { name: string; secret: string }): ClientEvent[] {
  if (client.status !== 'unknown') throw new RequestError('conflict', 'The client is already registered')
  const visibleName = visibleText(name)
  if (visibleName === '' || visibleName.length > 200) {
    throw new RequestError('invalid', `name must have 1 to 200 characters, got ${visibleName.length}`)
  }
  return [{ type: 'ClientRegistered', data: { name: visibleName, secret } }]
}

export function rotateSecret(client: Client, { secret }: { secret: string }): ClientEvent[] {
  requireRegisteredClient(client)
  return [{ type: 'ClientSecretRotated', data: { secret } }]
}

export function disableClient(client: Client): ClientEvent[] {
  const { status, epoch } = requireRegisteredClient(client)
  return status === 'disabled' ? [] : [{ type: 'ClientDisabled', data: { epoch: epoch + 1 } }]
}

export function enableClient(client: Client): ClientEvent[] {
  return requireRegisteredClient(client).status === 'enabled' ? [] : [{ type: 'ClientEnabled', data: {} }]
}

/** @throws RequestError missing */
export function requireRegisteredClient(client: Client): RegisteredClient {
  if (client.status === 'unknown') throw new RequestError('missing', 'There is no such client')
  return client
}
