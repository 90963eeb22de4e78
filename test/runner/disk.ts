import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux keeps files in memory. */
const IN_MEMORY = '/dev/shm'

/** Bytes that must be free there: installations of tests are small, and there are some at a time. */
const ROOM = 4 * 1024 ** 3

/**
 * A folder in memory for what tests write, which goes when this process ends. A kill takes the same from a process's files
 * on any disk, so that nothing is lost but the wait for a disk, thousands of times.
 * @returns undefined where the files belong on the disk: in the long forms, where TMPDIR names a place, and where there is
 *   little memory, no such folder, or one from which no program may be started
 */
export function folderInMemory(full: boolean, tmpdir = process.env['TMPDIR']): string | undefined {
  if (full || tmpdir || !existsSync(IN_MEMORY)) return undefined
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  if (bavail * bsize < ROOM || startsNothing(readFileSync('/proc/self/mounts', 'utf8'))) return undefined
  const folder = mkdtempSync(join(IN_MEMORY, 'adamant-tests-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Hardened systems mount it so. @param mounts as /proc/self/mounts has them */
export const startsNothing = (mounts: string): boolean =>
  mounts.split('\n').some((line) => {
    const [, where, , options = ''] = line.split(' ')
    return where === IN_MEMORY && options.split(',').includes('noexec')
  })
