import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PictureStore } from '../ports/file-store.ts'
import { ifExists } from './directory-layout.ts'

const PNG_ENDS = Buffer.from('IEND\xae\x42\x60\x82', 'latin1')

/**
 * Caches pictures in a separate folder, which may be deleted at any time: pictures are rendered again. When their total
 * size exceeds `maxBytes`, the oldest are deleted until 90 % of it is left. Several processes may share the folder.
 */
export function openPictureCache(folder: string, maxBytes: number): PictureStore {
  const fileOf = (key: string) => join(folder, `${createHash('sha256').update(key).digest('hex')}.png`)
  /** Undefined until the folder has been listed. */
  let bytes: number | undefined

  async function evictOldest(): Promise<void> {
    const files = await filesIn(folder)
    bytes = files.reduce((sum, { size }) => sum + size, 0)
    if (bytes <= maxBytes) return
    for (const { path, size } of files.sort((a, b) => a.written - b.written)) {
      if (bytes <= 0.9 * maxBytes) return
      await ifExists(() => unlink(path))
      bytes -= size
    }
  }

  return {
    async get(key) {
      const png = await ifExists(() => readFile(fileOf(key)))
      return png?.subarray(-PNG_ENDS.length).equals(PNG_ENDS) === true ? png : undefined
    },
    async put(key, png) {
      await mkdir(folder, { recursive: true })
      const draft = join(folder, `${randomUUID()}.part`)
      // Without `flush`, a power failure may leave a named file without its content, which would be served from then on.
      await writeFile(draft, png, { flag: 'wx', mode: 0o600, flush: true })
      await rename(draft, fileOf(key))
      if (bytes !== undefined) bytes += png.length
      if (bytes === undefined || bytes > maxBytes) await evictOldest()
    },
  }
}

/** Includes drafts of processes that were killed; they are deleted like pictures. */
async function filesIn(folder: string) {
  const found = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name)
      const file = await ifExists(() => stat(path))
      return file && { path, size: file.size, written: file.mtimeMs }
    }),
  )
  return found.filter((file) => file !== undefined)
}
