import { createHash } from 'node:crypto'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { OperationFailure } from '../operation.ts'

/** Size of a file, and its SHA-256 in hex. */
export type ContentDigest = { readonly bytes: number; readonly sha256: string }

export async function digestOf(chunks: AsyncIterable<unknown>): Promise<ContentDigest> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk as Buffer)
    bytes += (chunk as Buffer).length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Undefined if the store does not have the file. @throws StoreUnavailable */
async function digestOfStoredFile(files: FileStore, digest: string): Promise<ContentDigest | undefined> {
  const chunks = await files.readFile(digest)
  return chunks && digestOf(chunks)
}

/** What is wrong with a file that should have this digest, as the end of a sentence; undefined if it is intact. */
export function faultOfContent(digest: string, actual: ContentDigest | undefined): string | undefined {
  if (actual === undefined) return 'is missing'
  return actual.sha256 === digest ? undefined : `is damaged: its SHA-256 is ${actual.sha256}`
}

/** Like `faultOfContent`, for a stored file; reads all of it. @throws StoreUnavailable */
export const faultOfStoredFile = async (files: FileStore, digest: string): Promise<string | undefined> =>
  faultOfContent(digest, await digestOfStoredFile(files, digest))

type FileCopyOptions = {
  readonly source: FileStore
  readonly target: FileStore
  readonly digests: AsyncIterable<string> | Iterable<string>
  /** Sizes by digest of files that the target is known to have intact; copied files are added. */
  readonly intactFiles: Map<string, number>
}

/**
 * Copies files and reads each copy back. Skips files that the target has intact already, and does not store files that are
 * damaged at the source.
 * @param update called with the number of processed files
 * @returns the files that could not be copied, by digest: what the source has instead, undefined if it is missing there
 * @throws OperationFailure if the target does not return what was written, StoreUnavailable
 */
export async function copyFiles(
  { source, target, digests, intactFiles }: FileCopyOptions,
  update: (files: number) => void,
): Promise<ReadonlyMap<string, ContentDigest | undefined>> {
  const faulty = new Map<string, ContentDigest | undefined>()
  let files = 0
  for await (const digest of digests) {
    if (!intactFiles.has(digest)) {
      const actual = await copyFile(source, target, digest)
      if (actual?.sha256 === digest) intactFiles.set(digest, actual.bytes)
      else faulty.set(digest, actual)
    }
    update(++files)
  }
  return faulty
}

/** @returns the digest of the intact copy, or of the damaged file at the source; undefined if the source does not have it */
async function copyFile(source: FileStore, target: FileStore, digest: string): Promise<ContentDigest | undefined> {
  const existing = await digestOfStoredFile(target, digest)
  if (existing?.sha256 === digest) return existing
  const written = await write(source, target, digest)
  if (written?.sha256 !== digest) return written
  const fault = faultOfContent(digest, await digestOfStoredFile(target, digest))
  if (fault !== undefined) throw new OperationFailure(`The target's file ${digest} ${fault}. ${RETRY_ADVICE}`)
  return written
}

const RETRY_ADVICE = 'It was written a moment ago: check the disk there, then run the same command again'

/** Discards a file whose bytes do not match its digest. @returns the digest of what was read */
async function write(source: FileStore, target: FileStore, digest: string): Promise<ContentDigest | undefined> {
  const chunks = await source.readFile(digest)
  if (chunks === undefined) return undefined
  const incoming = await target.receive()
  try {
    const actual = await digestOf(teeChunks(chunks, (chunk) => incoming.write(chunk)))
    if (actual.sha256 === digest) (await incoming.keep()).release()
    return actual
  } finally {
    await incoming.discard()
  }
}

async function* teeChunks(chunks: AsyncIterable<unknown>, write: (chunk: Buffer) => Promise<void>) {
  for await (const chunk of chunks) {
    await write(chunk as Buffer)
    yield chunk
  }
}
