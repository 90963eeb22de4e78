import { diamondStream } from '../../domain/diamond/diamond.ts'
import { certifications } from '../../projections/certifications/certifications.ts'
import { stoneModels } from '../../projections/diamonds/stone-models.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import type { Files } from '../../stores/ports/files.ts'
import { faultOf } from '../copy/files.ts'
import type { Differences } from './differences.ts'

/** What names files, and keeps them in its read model as `digest`. */
type Holder = {
  readonly model: string
  /** What the log has of it, from its document: the diamond, and what a person calls it. */
  of(document: Document): { readonly diamond: number; readonly named: string }
  /** Whether an event is about it. */
  isAbout(event: StoredEvent, document: Document): boolean
  readonly attaching: string
  readonly remedy: string
}

const BACK = 'put the file back from a backup (files/ there has it by the same name)'

/** Everything that names files. */
const FILE_HOLDERS: readonly Holder[] = [
  {
    model: certifications.declaration.name,
    of: ({ id, diamond }) => ({ diamond: Number(diamond), named: `certification ${String(id)}` }),
    isAbout: ({ type, data }, { id }) => type.startsWith('Certification') && data['id'] === Number(id),
    attaching: 'CertificationAttached',
    remedy: `${BACK}, or remove the certification`,
  },
  {
    model: stoneModels.declaration.name,
    of: ({ id }) => ({ diamond: Number(id), named: 'the model' }),
    isAbout: ({ type }) => type.startsWith('StoneModel'),
    attaching: 'StoneModelAttached',
    remedy: `${BACK}, or remove the model`,
  },
]

type Checking = {
  readonly store: Pick<EventStore, 'read'>
  readonly files: Files
  readonly found: Differences
}

/** Documents of a model, a page at a time. */
type Documents = (model: string) => AsyncIterable<readonly Document[]> | Iterable<readonly Document[]>

/**
 * Reads every file that these documents name, and compares its bytes with its digest. Where what named it went meanwhile, its
 * file may go too.
 * @returns how many files were read
 */
export async function checkFiles(checking: Checking, documents: Documents): Promise<number> {
  const known = new Map<string, string | undefined>()
  for (const holder of FILE_HOLDERS) {
    for await (const page of documents(holder.model)) {
      for (const document of page) await checkFile(checking, holder, document, known)
    }
  }
  return known.size
}

/** @param known what is wrong with the files that were read, by their digests */
async function checkFile(
  { store, files, found }: Checking,
  holder: Holder,
  document: Document,
  known: Map<string, string | undefined>,
): Promise<void> {
  const digest = String(document['digest'])
  if (digest === '') return
  const fault = known.has(digest) ? known.get(digest) : await faultOf(files, digest)
  known.set(digest, fault)
  if (fault === undefined) return
  const { diamond, named } = holder.of(document)
  const where = await attachedAt(store, diamondStream(diamond), holder, document)
  if (where !== undefined) found.add({ where, what: `the file ${digest} of ${named} ${fault}`, do: holder.remedy })
}

/** Where it is attached that still is; undefined where it was removed. */
async function attachedAt(
  store: Pick<EventStore, 'read'>,
  stream: string,
  { isAbout, attaching }: Holder,
  document: Document,
): Promise<string | undefined> {
  const events = await store.read(stream)
  const last = events.findLast((event) => isAbout(event, document))
  return last?.type === attaching ? `${stream}@${last.revision}` : undefined
}
