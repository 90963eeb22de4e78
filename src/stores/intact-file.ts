import { createHash } from 'node:crypto'
import type { FileStore } from './ports/file-store.ts'

/**
 * Reads a whole file, of at most 20 MB, into memory.
 * @returns undefined if the file is missing, or its content no longer has this digest
 * @throws StoreUnavailable
 */
export async function readIntactFile(
  files: Pick<FileStore, 'readFile'>,
  digest: string,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const stream = await files.readFile(digest)
  if (stream === undefined) return undefined
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  const content = Buffer.concat(chunks)
  return createHash('sha256').update(content).digest('hex') === digest ? content : undefined
}
