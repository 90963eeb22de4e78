import { randomBytes } from 'node:crypto'
import { digestOf, randomToken } from '../../credentials/digests.ts'
import { registerClient as decide } from '../../domain/client/client.ts'
import { changeClient } from './clients.ts'
import type { Writing } from '../core/handle.ts'
import type { IdBlocks } from '../installation/integer-ids.ts'
import type { Origin } from '../../events/origin.ts'

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
  await changeClient(writing, client, origin, (state) => decide(state, { name, secret: digestOf(secret) }))
  return { client, secret }
}

/** 128 random bits in 25 digits and small letters. */
const randomBase36 = () =>
  BigInt(`0x${randomBytes(16).toString('hex')}`)
    .toString(36)
    .padStart(25, '0')
