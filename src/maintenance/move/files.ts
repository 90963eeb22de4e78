import { createHash } from 'node:crypto'
import type { Files } from '../../stores/ports/files.ts'
import { Failed } from '../operation.ts'

export type CopiedFiles = { files: number; bytes: number }

/**
 * Copies the files that the target does not have. Nothing is kept of one whose bytes are not what its name says.
 * @returns those that are there now
 * @throws Failed for one whose bytes are not what its name says
 */
export async function copyFiles(source: Files, target: Files, progress: (files: number) => void): Promise<CopiedFiles> {
  const there = new Set<string>()
  for await (const { digest } of target.list()) there.add(digest)
  const copied = { files: 0, bytes: 0 }
  for await (const { digest } of source.list()) {
    // What the source's collector has removed meanwhile nothing refers to.
    const bytes = there.has(digest) ? 0 : await copyFile(source, target, digest)
    if (bytes !== undefined) progress(++copied.files)
    copied.bytes += bytes ?? 0
  }
  return copied
}

async function copyFile(source: Files, target: Files, digest: string): Promise<number | undefined> {
  const bytes = await source.read(digest)
  if (bytes === undefined) return undefined
  const incoming = await target.receive()
  try {
    const hash = createHash('sha256')
    for await (const chunk of bytes) {
      hash.update(chunk as Buffer)
      await incoming.write(chunk as Buffer)
    }
    const found = hash.digest('hex')
    if (found !== digest) throw damaged('source', digest, found)
    const kept = await incoming.keep()
    kept.release()
    return kept.bytes
  } finally {
    await incoming.discard()
  }
}

/**
 * Reads every file of the target that was not read before, and holds that each of the source's is among those that are there.
 * @param verified those that were read, here and by earlier calls: what lies under a digest is never written anew
 * @throws Failed where one is missing or has other bytes
 */
export async function verifyFiles(
  source: Files,
  target: Files,
  verified: Set<string>,
  progress: (files: number) => void,
): Promise<void> {
  const there = new Set<string>()
  for await (const { digest } of target.list()) {
    if (!verified.has(digest)) await verifyFile(target, digest)
    verified.add(digest)
    there.add(digest)
    progress(there.size)
  }
  for await (const { digest } of source.list()) {
    if (there.has(digest) || (await source.markOf(digest)) === undefined) continue
    throw new Failed(`The target does not have the file ${digest}; run the same command again`)
  }
}

async function verifyFile(target: Files, digest: string): Promise<void> {
  const found = await digestOf(target, digest)
  if (found !== digest) throw damaged('target', digest, found)
}

async function digestOf(files: Files, digest: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of (await files.read(digest)) ?? []) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

const MENDS = {
  source: 'Restore it from a backup',
  target: 'Delete it there',
} as const

const damaged = (where: keyof typeof MENDS, digest: string, found: string) =>
  new Failed(
    `The ${where}'s file ${digest} is damaged: its bytes have the SHA-256 ${found}. ` +
      `${MENDS[where]}, and run the same command again`,
  )
