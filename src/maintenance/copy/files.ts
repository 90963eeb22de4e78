import { createHash } from 'node:crypto'
import type { FileStore } from '../../stores/ports/file-store.ts'
import { OperationFailure } from '../operation.ts'

/** What a file's bytes are: how many, and their SHA-256 in hex. */
export type ContentDigest = { readonly bytes: number; readonly sha256: string }

/** Of bytes as they come. */
export async function digestOf(chunks: AsyncIterable<unknown>): Promise<ContentDigest> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk as Buffer)
    bytes += (chunk as Buffer).length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Reads a stored file; undefined where there is none. @throws StoreUnavailable */
async function digestIn(files: FileStore, digest: string): Promise<ContentDigest | undefined> {
  const chunks = await files.read(digest)
  return chunks && digestOf(chunks)
}

/** What is wrong with bytes that should have this digest, as the end of a sentence; undefined where nothing is. */
export function faultIn(digest: string, found: ContentDigest | undefined): string | undefined {
  if (found === undefined) return 'is missing'
  return found.sha256 === digest ? undefined : `is damaged: it has the SHA-256 ${found.sha256}`
}

/** Likewise of a stored file, which is read for it. @throws StoreUnavailable */
export const faultOf = async (files: FileStore, digest: string): Promise<string | undefined> =>
  faultIn(digest, await digestIn(files, digest))

export type FileCopyOptions = {
  readonly source: FileStore
  readonly target: FileStore
  readonly digests: AsyncIterable<string> | Iterable<string>
  /** Bytes by digest of files that the target is known to have whole; those that this call copies are added. */
  readonly whole: Map<string, number>
}

/**
 * Copies files, each under the SHA-256 of its bytes. A file is copied when the target gives its bytes back; one that the
 * target has whole already is not copied again, and nothing is stored of one that is damaged at the source.
 * @param update called with the number of files that were looked at
 * @returns the files that could not be copied, by their digests: what the source has instead, undefined where it has nothing
 * @throws Failed where the target does not give back what was written, StoreUnavailable
 */
export async function copyFiles(
  { source, target, digests, whole }: FileCopyOptions,
  update: (files: number) => void,
): Promise<ReadonlyMap<string, ContentDigest | undefined>> {
  const faulty = new Map<string, ContentDigest | undefined>()
  let files = 0
  for await (const digest of digests) {
    if (!whole.has(digest)) {
      const found = await copyFile(source, target, digest)
      if (found?.sha256 === digest) whole.set(digest, found.bytes)
      else faulty.set(digest, found)
    }
    update(++files)
  }
  return faulty
}

/** @returns what both have then, or the source where that is not whole; undefined where the source has none */
async function copyFile(source: FileStore, target: FileStore, digest: string): Promise<ContentDigest | undefined> {
  const there = await digestIn(target, digest)
  if (there?.sha256 === digest) return there
  const written = await write(source, target, digest)
  if (written?.sha256 !== digest) return written
  const fault = faultIn(digest, await digestIn(target, digest))
  if (fault !== undefined) throw new OperationFailure(`The target's file ${digest} ${fault}. ${RETRY_ADVICE}`)
  return written
}

const RETRY_ADVICE = 'It was written just now: look at the disk there, and run the same command again'

/** Keeps nothing of one whose bytes are not what its name says. @returns what was read */
async function write(source: FileStore, target: FileStore, digest: string): Promise<ContentDigest | undefined> {
  const chunks = await source.read(digest)
  if (chunks === undefined) return undefined
  const incoming = await target.receive()
  try {
    const found = await digestOf(teeChunks(chunks, (chunk) => incoming.write(chunk)))
    if (found.sha256 === digest) (await incoming.keep()).release()
    return found
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
