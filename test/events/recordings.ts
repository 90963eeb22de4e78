import { readdirSync, readFileSync } from 'node:fs'
import type { StoredEvent } from '../../src/stores/ports/event-store.ts'

/** An event as it was stored. Positions and revisions are strings because JSON has no bigint. */
export type Recording = {
  readonly id: string
  readonly type: string
  readonly stream: string
  readonly revision: string
  readonly position: string
  readonly data: StoredEvent['data']
  readonly metadata: StoredEvent['metadata']
}

export const folder = new URL('recorded/', import.meta.url)

/** `DiamondCreated.1.json`: the type and the schema's version. */
export const fileOf = ({ type, metadata }: Pick<Recording, 'type' | 'metadata'>): string =>
  `${type}.${metadata['schema'] ?? '1'}.json`

/** The recorded events by file name, in log order. */
export function recordings(): ReadonlyMap<string, StoredEvent> {
  const read = readdirSync(folder)
    .map((file): readonly [string, StoredEvent] => [
      file,
      storedOf(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))),
    ])
    .toSorted(([, a], [, b]) => Number(a.position.commit - b.position.commit))
  return new Map(read)
}

function storedOf({ revision, position, ...event }: Recording): StoredEvent {
  const commit = BigInt(position)
  return { ...event, revision: BigInt(revision), position: { commit, prepare: commit } }
}
