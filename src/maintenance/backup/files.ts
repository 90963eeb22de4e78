import type { Files } from '../../stores/ports/files.ts'
import { digestOf } from './digests.ts'

/**
 * Copies one file, and keeps nothing of one whose bytes are not what its name says.
 * @returns its bytes; undefined where there is none, or a damaged one
 */
export async function copyWhole(source: Files, target: Files, digest: string): Promise<number | undefined> {
  const chunks = await source.read(digest)
  if (chunks === undefined) return undefined
  const incoming = await target.receive()
  try {
    const { bytes, sha256 } = await digestOf(written(chunks, (chunk) => incoming.write(chunk)))
    if (sha256 !== digest) return undefined
    const kept = await incoming.keep()
    kept.release()
    return bytes
  } finally {
    await incoming.discard()
  }
}

async function* written(chunks: AsyncIterable<unknown>, write: (chunk: Buffer) => Promise<void>) {
  for await (const chunk of chunks) {
    await write(chunk as Buffer)
    yield chunk
  }
}

/** Whether a file is there, with the bytes that its name says. */
export async function isWhole(files: Files, digest: string): Promise<boolean> {
  const chunks = await files.read(digest)
  return chunks !== undefined && (await digestOf(chunks)).sha256 === digest
}
