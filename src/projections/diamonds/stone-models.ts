import type { StoneModelEvent } from '../../domain/diamond/stone-model.ts'
import { diamondIn, diamondStream } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { readModel } from '../engine/read-model.ts'

/** A diamond that has a 3D file, by the diamond's id, and the file's digest. */
export type ModelPlace = { readonly id: number; readonly digest: string }

/** Which 3D files are in use. What is in them stands with the diamond. */
export const stoneModels = readModel<ModelPlace>({
  name: 'stone-models',
  version: 1,
  follows: ['diamond-'],
  on: ['StoneModelAttached', 'StoneModelRemoved'],
  documents: {
    fields: { id: 'integer', digest: 'text' },
    texts: [],
    indexes: [['digest']],
    counts: [],
  },
  keyOf: idIn,
  begins: () => false,
  evolve: (_place, event) => placeAfter(event),
  toDocument: ({ id, digest }) => ({ id, digest }),
  fromDocument: ({ id, digest }) => ({ id: Number(id), digest: String(digest) }),
})

function placeAfter(event: StoredEvent): ModelPlace | undefined {
  const { type, data } = decode<StoneModelEvent>(event)
  return type === 'StoneModelAttached' ? { id: idIn(event), digest: data.file.digest } : undefined
}

/** @throws where a stream of ours is named like no diamond's: it is set aside */
function idIn({ stream }: StoredEvent): number {
  const id = diamondIn(stream)
  if (Number.isSafeInteger(id) && diamondStream(id) === stream) return id
  throw new Error(`${stream} is no diamond's stream`)
}
