import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A folder on a file system of its own that has only so much room. */
export type SmallDisk = {
  /** Takes all the room that is left. */
  fill(): void
  /** Gives it back. */
  free(): void
  remove(): void
}

/** @returns undefined where this process may not mount one: it takes root, and Linux */
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
        // Who writes meanwhile has taken some of it: it is as full.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      }
    },
    free: () => rmSync(ballast, { force: true }),
    remove: () => void execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' }),
  }
}
