import { clientDecider, type Client, type ClientEvent } from '../../domain/client/client.ts'
import { clientStream } from '../../commands/clients/clients.ts'
import { Refusal } from '../../domain/refusal.ts'
import { Who } from '../../projections/history/who.ts'
import { foldedPast, type Telling } from './folded.ts'
import type { Subject } from './subject.ts'

/** An OAuth client's events. */
export const clientTelling: Telling<Client, ClientEvent> = {
  ...clientDecider,
  shown: (client) => (client.status === 'unknown' ? null : { name: client.name, status: client.status }),
  words: {
    ClientRegistered: 'registered',
    ClientSecretRotated: 'secret rotated',
    ClientDisabled: 'disabled',
    ClientEnabled: 'enabled',
  },
  detail: ({ type }) => DETAILS[type] ?? '',
}

const DETAILS: Readonly<Record<string, string>> = {
  ClientSecretRotated: 'the former secret is refused',
  ClientDisabled: 'its tokens have ended',
}

/** `audit client ID`. */
export const auditClient: Subject = {
  name: 'client',
  about: 'tell what happened to an OAuth client: who registered, rotated, disabled and enabled it, and when',
  id: 'its id, as `client list` shows it',
  example: '1_4x0kv3vtvosgkwgw8owg8wcw4',
  async past({ store, people }, id) {
    const events = await store.read(clientStream(id.replace(/^client-/, '')))
    if (events.length === 0) throw new Refusal('missing', `There is no client ${id.slice(0, 80)}, and there never was`)
    return foldedPast(events, clientTelling, new Who(store, people))
  },
}
