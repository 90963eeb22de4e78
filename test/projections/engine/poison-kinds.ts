import { randomUUID } from 'node:crypto'
import { DICTIONARIES } from '../../../src/domain/diamond/fields.ts'
import type { EventStore, NewEvent } from '../../../src/stores/ports/event-store.ts'

/** What stands in a stream for one that this release can't make sense of. */
export type Poison = { readonly name: string; readonly type: string; readonly data: object; readonly schema?: string }

/** An id that no release will give to an entry. */
const NO_ENTRY = 987_654

/** Kinds of poison for a kind of event. */
const kindsOf = (type: string): readonly Poison[] => [
  { name: `${type} of a newer schema`, type, data: {}, schema: '99' },
  { name: `${type} that never was valid`, type, data: { broken: true } },
  {
    name: `a type of the future instead of ${type}`,
    type: 'Foretold',
    data: { id: 1, digest: 'x', set: { carat: 3 } },
  },
]

const unknownEntries: readonly Poison[] = [...Object.keys(DICTIONARIES), 'cutShape'].map((field) => ({
  name: `an id of ${field} that no dictionary knows`,
  type: 'DiamondPatched',
  data: { set: { [field]: NO_ENTRY }, removed: [] },
}))
if (Object.values(DICTIONARIES).some(({ has }) => has(NO_ENTRY))) throw new Error('it is known')

export const DIAMOND_POISON: readonly Poison[] = [
  ...['DiamondCreated', 'DiamondPatched', 'CertificationAttached', 'CertificationRemoved', 'ReportRead'].flatMap(
    kindsOf,
  ),
  ...unknownEntries,
]
export const SCORES_POISON = kindsOf('DiamondScored')
export const SECRET_POISON = ['SecretShared', 'PassphraseTried', 'SecretRevealed'].flatMap(kindsOf)
export const REQUEST_POISON = kindsOf('RequestAccepted')

const BASE = { actor: 'account-1', via: 'http', $correlationId: 'r-1', at: new Date(0).toISOString() }

export const eventOf = ({ type, data, schema = '1' }: Omit<Poison, 'name'>): NewEvent => ({
  id: randomUUID(),
  type,
  data: { ...data },
  metadata: { ...BASE, schema },
})

/** Appends behind what is there. */
export async function appendTo(store: EventStore, stream: string, ...events: readonly Omit<Poison, 'name'>[]) {
  const [last] = await store.read(stream, { last: 1 })
  return store.append(stream, last?.revision ?? 'none', events.map(eventOf))
}
