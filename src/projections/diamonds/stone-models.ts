import type { StoneModelEvent } from '../../domain/diamond/stone-model.ts'
import { diamondIdOfStream, diamondStream } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { defineReadModel } from '../engine/read-model.ts'

/** A diamond's id and the digest of its 3D file. */
type StoneModelReference = { readonly id: number; readonly digest: string }

/** Which 3D files are in use. Their contents are part of the diamond. */
export const stoneModels = defineReadModel<StoneModelReference>({
  name: 'stone-models',
  version: 1,
  streamPrefixes: ['diamond-'],
  eventTypes: ['StoneModelAttached', 'StoneModelRemoved'],
  documents: {
    fields: { id: 'integer', digest: 'text' },
    texts: [],
    indexes: [['digest']],
    counts: [],
  },
  keyOf: diamondIdOf,
  createsDocument: () => false,
  evolve: (_reference, event) => referenceAfter(event),
  toDocument: ({ id, digest }) => ({ id, digest }),
  fromDocument: ({ id, digest }) => ({ id: Number(id), digest: String(digest) }),
})

function referenceAfter(event: StoredEvent): StoneModelReference | undefined {
  const { type, data } = decode<StoneModelEvent>(event)
  return type === 'StoneModelAttached' ? { id: diamondIdOf(event), digest: data.file.digest } : undefined
}

/** @throws if the stream's name is not that of a diamond: it is parked */
function diamondIdOf({ stream }: StoredEvent): number {
  const id = diamondIdOfStream(stream)
  if (Number.isSafeInteger(id) && diamondStream(id) === stream) return id
  throw new Error(`${stream} is not the stream of a diamond`)
}
