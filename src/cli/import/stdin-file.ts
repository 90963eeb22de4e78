import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/**
 * Copies stdin (`-`) to a temporary file, since an import reads its file several times.
 * @param task gets the file, and a temporary folder to unpack it to
 */
export async function withFile<Result>(
  fileArgument: string,
  task: (file: string, folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'adamant-import-'))
  try {
    if (fileArgument !== '-') return await task(fileArgument, folder)
    const file = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }))
    return await task(file, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}
