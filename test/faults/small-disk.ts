import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A folder on a separate file system of limited size. */
export type SmallDisk = {
  /** Uses all free space. */
  fill(): void
  /** Frees the space again. */
  free(): void
  remove(): void
}

/** @returns undefined if this process may not mount a file system, which needs root and Linux */
export function smallDisk(folder: string, bytes: number): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'adamant-test', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  const ballast = join(folder, 'ballast')
  return {
    fill() {
      const { bavail, bsize } = statfsSync(folder)
      try {
        writeFileSync(ballast, Buffer.alloc(bavail * bsize))
      } catch (error) {
        // The service has written meanwhile, so the disk is full anyway.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      }
    },
    free: () => rmSync(ballast, { force: true }),
    remove: () => void execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' }),
  }
}
