import { diamondStream } from '../../domain/diamond/diamond.ts'
import { certifications } from '../../projections/certifications/certifications.ts'
import { stoneModels } from '../../projections/diamonds/stone-models.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { faultOfStoredFile } from '../copy/files.ts'
import type { Differences } from './differences.ts'

/** A read model whose documents refer to files, by `digest`. */
type FileReferenceSource = {
  readonly model: string
  /** The diamond that has the file, and a name for messages. */
  describeReference(document: Document): { readonly diamond: number; readonly description: string }
  isAbout(event: StoredEvent, document: Document): boolean
  readonly attachedEventType: string
  readonly remedy: string
}

const RESTORE_FILE_REMEDY = 'restore the file from a backup (same name in files/)'

const FILE_REFERENCE_SOURCES: readonly FileReferenceSource[] = [
  {
    model: certifications.declaration.name,
    describeReference: ({ id, diamond }) => ({ diamond: Number(diamond), description: `certification ${String(id)}` }),
    isAbout: ({ type, data }, { id }) => type.startsWith('Certification') && data['id'] === Number(id),
    attachedEventType: 'CertificationAttached',
    remedy: `${RESTORE_FILE_REMEDY}, or remove the certification`,
  },
  {
    model: stoneModels.declaration.name,
    describeReference: ({ id }) => ({ diamond: Number(id), description: 'the 3D model' }),
    isAbout: ({ type }) => type.startsWith('StoneModel'),
    attachedEventType: 'StoneModelAttached',
    remedy: `${RESTORE_FILE_REMEDY}, or remove the 3D model`,
  },
]

type FileVerification = {
  readonly store: Pick<EventStore, 'readStream'>
  readonly files: FileStore
  readonly differences: Differences
}

/** Reads the documents of a model, page by page. */
type DocumentPageReader = (model: string) => AsyncIterable<readonly Document[]> | Iterable<readonly Document[]>

/**
 * Reads every file that these documents refer to, and compares its bytes with its digest. A missing file is ignored if its
 * certification or 3D model was removed meanwhile.
 * @returns the number of files
 */
export async function checkFiles(verification: FileVerification, documents: DocumentPageReader): Promise<number> {
  const faultsByDigest = new Map<string, string | undefined>()
  for (const source of FILE_REFERENCE_SOURCES) {
    for await (const page of documents(source.model)) {
      for (const document of page) await checkFile(verification, source, document, faultsByDigest)
    }
  }
  return faultsByDigest.size
}

/** @param faultsByDigest faults of the files read so far, by digest */
async function checkFile(
  { store, files, differences }: FileVerification,
  source: FileReferenceSource,
  document: Document,
  faultsByDigest: Map<string, string | undefined>,
): Promise<void> {
  const digest = String(document['digest'])
  if (digest === '') return
  const fault = faultsByDigest.has(digest) ? faultsByDigest.get(digest) : await faultOfStoredFile(files, digest)
  faultsByDigest.set(digest, fault)
  if (fault === undefined) return
  const { diamond, description } = source.describeReference(document)
  const where = await findAttachment(store, diamondStream(diamond), source, document)
  if (where !== undefined)
    differences.add({ where, what: `the file ${digest} of ${description} ${fault}`, do: source.remedy })
}

/** Stream and revision of the attachment; undefined if it was removed. */
async function findAttachment(
  store: Pick<EventStore, 'readStream'>,
  stream: string,
  { isAbout, attachedEventType }: FileReferenceSource,
  document: Document,
): Promise<string | undefined> {
  const events = await store.readStream(stream)
  const last = events.findLast((event) => isAbout(event, document))
  return last?.type === attachedEventType ? `${stream}@${last.revision}` : undefined
}
