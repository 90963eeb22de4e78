import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { PictureStore } from '../ports/file-store.ts'
import { ifExists } from './directory-layout.ts'

const PNG_ENDS = Buffer.from('IEND\xae\x42\x60\x82', 'latin1')

/**
 * Keeps pictures in a folder of their own, which may be removed at any time: they are drawn again. When they have more bytes than allowed,
 * those that were drawn first go, down to nine tenths of it. Processes may share the folder.
 */
export function openPictureCache(folder: string, mostBytes: number): PictureStore {
  const fileOf = (key: string) => join(folder, `${createHash('sha256').update(key).digest('hex')}.png`)
  /** Undefined until the folder was looked at. */
  let bytes: number | undefined

  async function makeRoom(): Promise<void> {
    const files = await filesIn(folder)
    bytes = files.reduce((sum, { size }) => sum + size, 0)
    if (bytes <= mostBytes) return
    for (const { path, size } of files.sort((a, b) => a.written - b.written)) {
      if (bytes <= 0.9 * mostBytes) return
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
      const handle = await open(draft, 'wx', 0o600)
      try {
        await handle.writeFile(png)
        // Without it a power failure may leave a name without a picture, which would be shown from then on.
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(draft, fileOf(key))
      if (bytes !== undefined) bytes += png.length
      if (bytes === undefined || bytes > mostBytes) await makeRoom()
    },
  }
}

/** Drafts of processes that were killed are among them, and go like the others. */
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
