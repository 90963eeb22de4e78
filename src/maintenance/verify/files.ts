import { diamondStream } from '../../domain/diamond/diamond.ts'
import { certifications } from '../../projections/certifications/certifications.ts'
import { stoneModels } from '../../projections/diamonds/stone-models.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { faultOf } from '../copy/files.ts'
import type { Differences } from './differences.ts'

/** A read model whose documents refer to files, by `digest`. */
type FileReferenceSource = {
  readonly model: string
  /** The diamond that has the file, and a name for messages. */
  describeReference(document: Document): { readonly diamond: number; readonly named: string }
  isAbout(event: StoredEvent, document: Document): boolean
  readonly attachedEventType: string
  readonly remedy: string
}

const RESTORE_FILE_REMEDY = 'restore the file from a backup (same name in files/)'

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
    describeReference: ({ id }) => ({ diamond: Number(id), named: 'the 3D model' }),
    isAbout: ({ type }) => type.startsWith('StoneModel'),
    attachedEventType: 'StoneModelAttached',
    remedy: `${RESTORE_FILE_REMEDY}, or remove the 3D model`,
  },
]

type FileVerification = {
  readonly store: Pick<EventStore, 'read'>
  readonly files: FileStore
  readonly found: Differences
}

/** Reads the documents of a model, page by page. */
type DocumentPageReader = (model: string) => AsyncIterable<readonly Document[]> | Iterable<readonly Document[]>

/**
 * Reads every file that these documents refer to, and compares its bytes with its digest. A missing file is ignored if its
 * certification or 3D model was removed meanwhile.
 * @returns the number of files
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

/** @param known faults of the files read so far, by digest */
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

/** Stream and revision of the attachment; undefined if it was removed. */
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
