import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** A tmpfs on Linux. */
const TMPFS = '/dev/shm'

/** Bytes that must be free in memory for the small installations of several concurrent tests. */
const MIN_FREE_BYTES = 4 * 1024 ** 3

/**
 * A folder in memory for files that tests write, deleted when this process ends. It saves thousands of waits for the
 * disk. Tests that kill a process lose nothing by it: written data survives a kill on any file system.
 * @returns undefined if the files belong on the disk: in the long forms, if TMPDIR is set, if there is too little memory,
 *   no such folder, or programs cannot be started from it
 */
export function folderInMemory(full: boolean, tmpdir = process.env['TMPDIR']): string | undefined {
  if (full || tmpdir || !existsSync(TMPFS)) return undefined
  const { bavail, bsize } = statfsSync(TMPFS)
  if (bavail * bsize < MIN_FREE_BYTES || isMountedNoexec(readFileSync('/proc/self/mounts', 'utf8'))) return undefined
  const folder = mkdtempSync(join(TMPFS, 'adamant-tests-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Whether it is mounted `noexec`, as on hardened systems. @param mounts the content of /proc/self/mounts */
export const isMountedNoexec = (mounts: string): boolean =>
  mounts.split('\n').some((line) => {
    const [, where, , options = ''] = line.split(' ')
    return where === TMPFS && options.split(',').includes('noexec')
  })
