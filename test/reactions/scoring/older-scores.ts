import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { scoresStream } from '../../../src/domain/diamond/diamond.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { randomUUID } from 'node:crypto'

const origin = { actor: 'scoring', via: 'projection', correlation: 'an older release' } as const

/** Scores with one number, as computed by that version of the model. */
export const scoresOfVersion = (ver: string) => ({
  integral: { val: 0.5, rg: 0.5, d: 0.05, ver },
  spread: null,
  fire: null,
  brilliance: null,
  fluor: null,
  symmetry: null,
})

/** Appends scores of the created stones as a release with that version of the model did. */
export async function appendScoresOfVersion(
  store: EventStore,
  ver: string,
  diamonds: readonly number[],
): Promise<void> {
  const appends = diamonds.map(async (id) => {
    const last = (await store.readStream(scoresStream(id), { last: 1 })).at(-1)
    return {
      stream: scoresStream(id),
      expected: last?.revision ?? ('none' as const),
      events: [
        {
          id: randomUUID(),
          type: 'DiamondScored',
          data: { id, revision: 0, scores: scoresOfVersion(ver) },
          metadata: toEventMetadata(origin, 0),
        },
      ],
    }
  })
  await store.appendMany(await Promise.all(appends))
}
