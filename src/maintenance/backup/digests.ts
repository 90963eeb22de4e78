import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../../stores/ports/files.ts'
import { Failed } from '../operation.ts'
import { progressBar } from '../../cli/progress-bar.ts'
import { LOG_FILE } from '../../wiring/engines.ts'
import { PERSONS_FILE, type Manifest } from './manifest.ts'

export type Digested = { readonly bytes: number; readonly sha256: string }

/** Of bytes as they come. */
export async function digestOf(chunks: AsyncIterable<unknown>): Promise<Digested> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk as Buffer)
    bytes += (chunk as Buffer).length
  }
  return { bytes, sha256: hash.digest('hex') }
}

export const digestOfFile = (path: string): Promise<Digested> => digestOf(createReadStream(path))

/** Undefined where there is no such file. @throws Failed where it is there, and can't be read */
async function digestIfThere(path: string): Promise<Digested | undefined> {
  try {
    return await digestOfFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    const why = error instanceof Error ? error.message : String(error)
    throw new Failed(`The backup can't be read: ${why}. Nothing was changed; make ${path} readable, or take another`)
  }
}

/**
 * Reads the whole backup before anything of it is used.
 * @throws Failed for the first file that is missing or has other bytes
 */
export async function verifyBackup(folder: string, { log, persons, files }: Manifest, held: Files): Promise<void> {
  const bar = progressBar('verifying the backup', files.length + 1, 'files')
  let verified = 0
  try {
    if (log.file !== null) {
      const path = join(folder, LOG_FILE)
      const found = await digestIfThere(path)
      if (found?.sha256 !== log.file.sha256) throw damaged(path, log.file.sha256, found)
    }
    if (persons !== undefined) {
      const path = join(folder, PERSONS_FILE)
      const found = await digestIfThere(path)
      if (found?.sha256 !== persons.sha256) throw damaged(path, persons.sha256, found)
    }
    bar.update(++verified)
    for (const { digest } of files) {
      const chunks = await held.read(digest)
      const found = chunks && (await digestOf(chunks))
      if (found?.sha256 !== digest) throw damaged(`the file ${digest} in ${folder}`, digest, found)
      bar.update(++verified)
    }
  } finally {
    bar.end()
  }
}

function damaged(what: string, wanted: string, found: Digested | undefined): Failed {
  const how = found === undefined ? 'is missing' : `has the SHA-256 ${found.sha256}, not ${wanted}`
  return new Failed(`The backup is damaged: ${what} ${how}. Nothing was changed; take another backup`)
}
