import { readEpoch } from '../../events/lineage.ts'
import type { CertificationAttached, CertificationRemoved } from '../../domain/certification/certification.ts'
import type { StoneModelAttached } from '../../domain/diamond/stone-model.ts'
import { shownPosition, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import { Failed } from '../operation.ts'
import type { Manifest } from '../backup/folder.ts'

export type LogFacts = Omit<Manifest['log'], 'file'> & {
  /** Digests of the files that certifications and stones' models have. */
  readonly files: ReadonlySet<string>
}

/** What a log says of itself, from its first event to its last. */
export async function logFacts(store: EventStore): Promise<LogFacts> {
  const files = new Map<string, string>()
  let events = 0
  let last: StoredEvent | undefined
  for await (const event of store.readAll('start')) {
    events++
    last = event
    if (event.type === 'CertificationAttached') {
      const { id, file } = decode<CertificationAttached>(event).data
      if (file !== null) files.set(nameOf(event.stream, id), file.digest)
    } else if (event.type === 'CertificationRemoved') {
      files.delete(nameOf(event.stream, decode<CertificationRemoved>(event).data.id))
    } else if (event.type === 'StoneModelAttached') {
      files.set(nameOf(event.stream, 'model'), decode<StoneModelAttached>(event).data.file.digest)
    } else if (event.type === 'StoneModelRemoved') {
      files.delete(nameOf(event.stream, 'model'))
    }
  }
  if (last === undefined) throw new Failed('The log is empty: there is nothing to be backed up')
  return {
    identity: await store.identity(),
    epoch: await readEpoch(store),
    events,
    position: shownPosition(last.position),
    last: last.id,
    files: new Set(files.values()),
  }
}

const nameOf = (stream: string, of: number | 'model') => `${stream}/${of}`
