import type { Files } from '../../stores/ports/files.ts'
import { Failed } from '../operation.ts'
import { progressBar } from '../../cli/progress-bar.ts'
import { copyWhole, isWhole } from './files.ts'
import type { Manifest } from './manifest.ts'

/** What is to be restored. Without `log` it is in its place already, without `held` the files are. */
export type Asked = {
  readonly from: string | undefined
  readonly log: string | undefined
  readonly manifest: Manifest | undefined
  readonly held: Files | undefined
}

/** The folder whose persons come back: none where there is no backup, or it is of a release that had none. */
export const personsOf = ({ from, manifest }: Asked): string | undefined =>
  manifest?.persons === undefined ? undefined : from

export type RestoredFiles = { readonly files: number; readonly bytes: number }

/** Puts back those that are not there whole. @throws Failed */
export async function restoreFiles({ manifest, held }: Asked, target: Files): Promise<RestoredFiles> {
  if (manifest === undefined || held === undefined) return { files: 0, bytes: 0 }
  const bar = progressBar('restoring files', manifest.files.length, 'files')
  let bytes = manifest.log.file?.bytes ?? 0
  let files = 0
  try {
    for (const file of manifest.files) {
      const isThere = await isWhole(target, file.digest)
      if (!isThere && (await copyWhole(held, target, file.digest)) === undefined) {
        throw new Failed(`The file ${file.digest} of the backup was damaged while it was read: nothing was changed`)
      }
      bytes += file.bytes
      bar.update(++files)
    }
  } finally {
    bar.end()
  }
  return { files, bytes }
}
