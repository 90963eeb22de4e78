import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeStockListFolder } from '../../wiring/local-copies.ts'

/**
 * Copies stdin (`-`) to a temporary file, since an import reads its file several times.
 * @param task gets the file, and a temporary folder to unpack it to
 */
export async function withFile<Result>(
  fileArgument: string,
  task: (file: string, folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await makeStockListFolder()
  try {
    if (fileArgument !== '-') return await task(fileArgument, folder)
    const file = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }))
    return await task(file, folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}
