import { readdirSync, readlinkSync } from 'node:fs'
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

/**
 * The same for a whole process, with the threads that V8 and the thread pool have begun already: on Linux the priority of a
 * process is that of its first thread alone. Threads that begin later have it from the one that begins them.
 */
export function lowerProcessPriority(priority: number = constants.priority.PRIORITY_LOW): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, priority)
    } catch {
      // It has ended, or a sandbox forbids it.
    }
  }
}

function threads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [process.pid]
  }
}
