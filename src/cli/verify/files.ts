import { diamondStream } from '../../domain/diamond/streams.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Build } from '../../stores/ports/read-store.ts'
import type { Files } from '../../stores/ports/files.ts'
import { digestOf } from '../backup/digests.ts'
import type { Differences } from './differences.ts'

const REMEDY = 'put the file back from a backup (files/ there has it by the same name), or remove the certification'

type Checking = {
  readonly store: Pick<EventStore, 'read'>
  readonly files: Files
  /** Of the certifications, folded from the log. */
  readonly certifications: Build
  readonly found: Differences
}

/**
 * Reads every file that a certification of the log names, and compares its bytes with its digest. Where a certification went meanwhile,
 * its file may go too.
 * @returns how many files were read
 */
export async function checkFiles({ store, files, certifications, found }: Checking): Promise<number> {
  const known = new Map<string, string | undefined>()
  for await (const page of certifications.walk([])) {
    for (const { document } of page) {
      const { id, diamond, digest: named } = document
      const digest = String(named)
      if (digest === '') continue
      const fault = known.has(digest) ? known.get(digest) : await faultOf(files, digest)
      known.set(digest, fault)
      if (fault === undefined) continue
      const where = await attachedAt(store, diamondStream(Number(diamond)), Number(id))
      if (where !== undefined)
        found.add({ where, what: `the file ${digest} of certification ${id} ${fault}`, do: REMEDY })
    }
  }
  return known.size
}

/** What is wrong with a file's bytes; undefined where they have this digest. */
export async function faultOf(files: Files, digest: string): Promise<string | undefined> {
  const chunks = await files.read(digest)
  if (chunks === undefined) return 'is missing'
  const { sha256 } = await digestOf(chunks)
  return sha256 === digest ? undefined : `is damaged: its SHA-256 is ${sha256}`
}

/** Where a certification is attached that still is; undefined where it was removed. */
async function attachedAt(store: Pick<EventStore, 'read'>, stream: string, id: number): Promise<string | undefined> {
  const events = await store.read(stream)
  const last = events.findLast(({ type, data }) => type.startsWith('Certification') && data['id'] === id)
  return last?.type === 'CertificationAttached' ? `${stream}@${last.revision}` : undefined
}
