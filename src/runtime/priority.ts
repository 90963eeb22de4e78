import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

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

/**
 * Keeps this process, with the threads that it has and those that begin later, off one of the processors that it may run on.
 * A low priority alone is not enough for whoever answers requests beside it: where each processor computes something,
 * waking up takes until the end of a slice, some 3 ms on Linux 6.18 (bench/RESULTS.md, rebuild).
 *
 * Node has no call for that; `taskset` is util-linux's, which Debian, Red Hat and Alpine have. Without it, without Linux, or
 * on a single processor everything stays as it is.
 * @see https://man7.org/linux/man-pages/man1/taskset.1.html
 */
export function spareOneCore(): void {
  const [, ...others] = allowedCores()
  if (others.length === 0) return
  const words = ['--all-tasks', '--cpu-list', '--pid', others.join(','), String(process.pid)]
  spawnSync('taskset', words, { stdio: 'ignore' })
}

function allowedCores(): number[] {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return list === undefined ? [] : parseCpuList(list)
  } catch {
    return []
  }
}

/** @param list as Linux writes it: `0-3,8` */
export function parseCpuList(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  })
}
