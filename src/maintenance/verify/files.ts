import { diamondStream } from '../../domain/diamond/diamond.ts'
import { importsStream } from '../../domain/imports/stock-import.ts'
import { certifications } from '../../projections/certifications/certifications.ts'
import { stoneModels } from '../../projections/diamonds/stone-models.ts'
import { imports } from '../../projections/imports/imports.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { faultOfStoredFile } from '../copy/files.ts'
import type { Differences } from './differences.ts'

type FileVerification = {
  readonly store: Pick<EventStore, 'readStream'>
  readonly files: FileStore
  readonly differences: Differences
}

/** Reads the documents of a model, page by page. */
type DocumentPageReader = (model: string) => AsyncIterable<readonly Document[]> | Iterable<readonly Document[]>

/**
 * Reads every file that these documents refer to, and compares its bytes with its digest. A missing file is ignored if its
 * certification, 3D model or import was removed meanwhile.
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

/** A read model whose documents refer to files. */
type FileReferenceSource = {
  readonly model: string
  /** The stream with the references, a name for messages, and the digests. */
  describeReference(document: Document): FileReference
  isAbout(event: StoredEvent, document: Document): boolean
  /** Whether the file is still needed after the last event about it. */
  isNeeded(last: StoredEvent, digest: string): boolean
  readonly remedy: string
}

type FileReference = { readonly stream: string; readonly description: string; readonly digests: readonly string[] }

const RESTORE_FILE_REMEDY = 'restore the file from a backup (same name in files/)'

const FILE_REFERENCE_SOURCES: readonly FileReferenceSource[] = [
  {
    model: certifications.declaration.name,
    describeReference: ({ id, diamond, digest }) => ({
      stream: diamondStream(Number(diamond)),
      description: `certification ${String(id)}`,
      digests: [String(digest)],
    }),
    isAbout: ({ type, data }, { id }) => type.startsWith('Certification') && data['id'] === Number(id),
    isNeeded: ({ type }) => type === 'CertificationAttached',
    remedy: `${RESTORE_FILE_REMEDY}, or remove the certification`,
  },
  {
    model: stoneModels.declaration.name,
    describeReference: ({ id, digest }) => ({
      stream: diamondStream(Number(id)),
      description: 'the 3D model',
      digests: [String(digest)],
    }),
    isAbout: ({ type }) => type.startsWith('StoneModel'),
    isNeeded: ({ type }) => type === 'StoneModelAttached',
    remedy: `${RESTORE_FILE_REMEDY}, or remove the 3D model`,
  },
  {
    model: imports.declaration.name,
    describeReference: ({ id, owner, file, reading }) => ({
      stream: importsStream(Number(owner)),
      description: `import ${String(id)}`,
      digests: [String(file), String(reading)],
    }),
    isAbout: ({ data }, { id }) => data['id'] === id,
    isNeeded: ({ data: { released } }, digest) => !(Array.isArray(released) && released.includes(digest)),
    remedy: `${RESTORE_FILE_REMEDY}, or delete the import`,
  },
]

/** @param faultsByDigest faults of the files read so far, by digest */
async function checkFile(
  { store, files, differences }: FileVerification,
  source: FileReferenceSource,
  document: Document,
  faultsByDigest: Map<string, string | undefined>,
): Promise<void> {
  const { stream, description, digests } = source.describeReference(document)
  for (const digest of digests) {
    if (digest === '') continue
    const fault = faultsByDigest.has(digest) ? faultsByDigest.get(digest) : await faultOfStoredFile(files, digest)
    faultsByDigest.set(digest, fault)
    if (fault === undefined) continue
    const last = (await store.readStream(stream)).findLast((event) => source.isAbout(event, document))
    if (last !== undefined && source.isNeeded(last, digest))
      differences.add({
        where: `${stream}@${last.revision}`,
        what: `the file ${digest} of ${description} ${fault}`,
        do: source.remedy,
      })
  }
}
