import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { constants, setPriority } from 'node:os'

/**
 * Lets this thread run only where others leave the processor idle, so that hours of computing slow down no request.
 * Linux has a priority for each thread, and `/proc/thread-self` names the calling one; elsewhere nothing changes.
 * @param priority 19 gets a seventieth of a busy processor beside a thread of the usual priority, 10 a tenth
 * @see https://man7.org/linux/man-pages/man2/setpriority.2.html (Notes)
 */
export function lowerPriority(priority: number = constants.priority.PRIORITY_LOW): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), priority)
  } catch {
    // Without /proc, or where a sandbox forbids it: the same work at the usual priority.
  }
}
