import { diamondStream } from '../../domain/diamond/diamond.ts'
import { certifications } from '../../projections/certifications/certifications.ts'
import { stoneModels } from '../../projections/diamonds/stone-models.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { faultOf } from '../copy/files.ts'
import type { Differences } from './differences.ts'

/** What names files, and keeps them in its read model as `digest`. */
type FileReferenceSource = {
  readonly model: string
  /** What the log has of it, from its document: the diamond, and what a person calls it. */
  describeReference(document: Document): { readonly diamond: number; readonly named: string }
  /** Whether an event is about it. */
  isAbout(event: StoredEvent, document: Document): boolean
  readonly attachedEventType: string
  readonly remedy: string
}

const RESTORE_FILE_REMEDY = 'put the file back from a backup (files/ there has it by the same name)'

/** Everything that names files. */
const FILE_REFERENCE_SOURCES: readonly FileReferenceSource[] = [
  {
    model: certifications.declaration.name,
    describeReference: ({ id, diamond }) => ({ diamond: Number(diamond), named: `certification ${String(id)}` }),
    isAbout: ({ type, data }, { id }) => type.startsWith('Certification') && data['id'] === Number(id),
    attachedEventType: 'CertificationAttached',
    remedy: `${RESTORE_FILE_REMEDY}, or remove the certification`,
  },
  {
    model: stoneModels.declaration.name,
    describeReference: ({ id }) => ({ diamond: Number(id), named: 'the model' }),
    isAbout: ({ type }) => type.startsWith('StoneModel'),
    attachedEventType: 'StoneModelAttached',
    remedy: `${RESTORE_FILE_REMEDY}, or remove the model`,
  },
]

type FileVerification = {
  readonly store: Pick<EventStore, 'read'>
  readonly files: FileStore
  readonly found: Differences
}

/** Documents of a model, a page at a time. */
type DocumentPageReader = (model: string) => AsyncIterable<readonly Document[]> | Iterable<readonly Document[]>

/**
 * Reads every file that these documents name, and compares its bytes with its digest. Where what named it went meanwhile, its
 * file may go too.
 * @returns how many files were read
 */
export async function checkFiles(checking: FileVerification, documents: DocumentPageReader): Promise<number> {
  const known = new Map<string, string | undefined>()
  for (const holder of FILE_REFERENCE_SOURCES) {
    for await (const page of documents(holder.model)) {
      for (const document of page) await checkFile(checking, holder, document, known)
    }
  }
  return known.size
}

/** @param known what is wrong with the files that were read, by their digests */
async function checkFile(
  { store, files, found }: FileVerification,
  holder: FileReferenceSource,
  document: Document,
  known: Map<string, string | undefined>,
): Promise<void> {
  const digest = String(document['digest'])
  if (digest === '') return
  const fault = known.has(digest) ? known.get(digest) : await faultOf(files, digest)
  known.set(digest, fault)
  if (fault === undefined) return
  const { diamond, named } = holder.describeReference(document)
  const where = await findAttachment(store, diamondStream(diamond), holder, document)
  if (where !== undefined) found.add({ where, what: `the file ${digest} of ${named} ${fault}`, do: holder.remedy })
}

/** Where it is attached that still is; undefined where it was removed. */
async function findAttachment(
  store: Pick<EventStore, 'read'>,
  stream: string,
  { isAbout, attachedEventType }: FileReferenceSource,
  document: Document,
): Promise<string | undefined> {
  const events = await store.read(stream)
  const last = events.findLast((event) => isAbout(event, document))
  return last?.type === attachedEventType ? `${stream}@${last.revision}` : undefined
}
