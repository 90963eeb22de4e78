import { diamondIn } from '../../domain/diamond/diamond.ts'
import type { CertificationAttached, CertificationRemoved } from '../../domain/certification/certification.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import { isKnownType } from '../../events/registry.ts'
import { readModel } from '../engine/read-model.ts'

export type CertificationPlace = { readonly id: number; readonly diamond: number; readonly digest: string }

/**
 * Which diamond a certification stands with, since its own id is all that a request names, and which files are in use.
 * digest: '' where there is no file.
 */
export const certifications = readModel<CertificationPlace>({
  name: 'certifications',
  version: 1,
  follows: ['diamond-'],
  documents: {
    fields: { id: 'integer', diamond: 'integer', digest: 'text' },
    texts: [],
    indexes: [['digest']],
    counts: [],
  },
  keyOf: (event) => (isOther(event) ? undefined : decode<CertificationAttached | CertificationRemoved>(event).data.id),
  begins: ({ type }) => type === 'CertificationAttached',
  apply: (place, event) => (event.type === 'CertificationRemoved' ? undefined : (place ?? placeOf(event))),
  toDocument: ({ id, diamond, digest }) => ({ id, diamond, digest }),
  fromDocument: ({ id, diamond, digest }) => ({ id: Number(id), diamond: Number(diamond), digest: String(digest) }),
})

/** What this release knows to be about something else. A type that it does not know may be about files. */
const isOther = ({ type }: StoredEvent) =>
  isKnownType(type) && type !== 'CertificationAttached' && type !== 'CertificationRemoved'

function placeOf(event: StoredEvent): CertificationPlace {
  const { id, file } = decode<CertificationAttached>(event).data
  return { id, diamond: diamondIn(event.stream), digest: file?.digest ?? '' }
}
