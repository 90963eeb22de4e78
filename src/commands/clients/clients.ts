import { evolveClient, unknownClient, type Client, type ClientEvent } from '../../domain/client/client.ts'
import { handle, type Writing } from '../core/handle.ts'
import type { Fold } from '../core/load.ts'
import type { Origin } from '../../events/origin.ts'

export const clientFold: Fold<Client, ClientEvent> = { initial: unknownClient, evolve: evolveClient }

/** `client` is the public id, such as `3_f00dbabe`. */
export const clientStream = (client: string) => `client-${client}`

/** The form of a public id; anything else names no stream. */
export const isClientId = (text: string) => /^[1-9]\d{0,15}_[0-9a-z]{1,64}$/.test(text)

/** @throws what `decide` throws */
export async function changeClient(
  writing: Writing,
  client: string,
  origin: Origin,
  decide: (client: Client) => ClientEvent[],
): Promise<{ client: string }> {
  await handle(writing, { stream: clientStream(client), origin }, clientFold, decide)
  return { client }
}
