import { randomUUID } from 'node:crypto'
import { DICTIONARIES } from '../../../src/domain/diamond/fields.ts'
import type { EventStore, NewEvent } from '../../../src/stores/ports/event-store.ts'

/** An event that this release cannot process. */
export type PoisonEvent = {
  readonly name: string
  readonly type: string
  readonly data: object
  readonly schema?: string
}

/** An id that no dictionary entry will have in any release. */
const NO_ENTRY = 987_654

/** Poison events derived from an event type. */
const poisonVariants = (type: string): readonly PoisonEvent[] => [
  { name: `${type} of a newer schema`, type, data: {}, schema: '99' },
  { name: `${type} with invalid data`, type, data: { broken: true } },
  {
    name: `an unknown type instead of ${type}`,
    type: 'Foretold',
    data: { id: 1, digest: 'x', set: { carat: 3 } },
  },
]

const unknownEntries: readonly PoisonEvent[] = [...Object.keys(DICTIONARIES), 'cutShape'].map((field) => ({
  name: `an unknown id of ${field}`,
  type: 'DiamondPatched',
  data: { set: { [field]: NO_ENTRY }, removed: [] },
}))
if (Object.values(DICTIONARIES).some(({ has }) => has(NO_ENTRY)))
  throw new Error(`${NO_ENTRY} must not be the id of a dictionary entry`)

export const DIAMOND_POISON: readonly PoisonEvent[] = [
  ...['DiamondCreated', 'DiamondPatched', 'CertificationAttached', 'CertificationRemoved', 'ReportRead'].flatMap(
    poisonVariants,
  ),
  ...unknownEntries,
]
export const SCORES_POISON = poisonVariants('DiamondScored')
export const SECRET_POISON = ['SecretShared', 'PassphraseTried', 'SecretRevealed'].flatMap(poisonVariants)
export const REQUEST_POISON = poisonVariants('RequestAccepted')

const METADATA = { actor: 'account-1', via: 'http', $correlationId: 'r-1', at: new Date(0).toISOString() }

export const toNewEvent = ({ type, data, schema = '1' }: Omit<PoisonEvent, 'name'>): NewEvent => ({
  id: randomUUID(),
  type,
  data: { ...data },
  metadata: { ...METADATA, schema },
})

/** Appends at the end of the stream. */
export async function appendTo(store: EventStore, stream: string, ...events: readonly Omit<PoisonEvent, 'name'>[]) {
  const [last] = await store.readStream(stream, { last: 1 })
  return store.append(stream, last?.revision ?? 'none', events.map(toNewEvent))
}
