import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'

/**
 * Lowers this thread's priority so that it runs only on idle processors and long computations do not slow down
 * requests. Linux has a priority per thread, and `/proc/thread-self` identifies the calling one; no effect on other
 * systems.
 * @param priority 19 gets a seventieth of a busy processor next to a thread of normal priority, 10 a tenth
 * @see https://man7.org/linux/man-pages/man2/setpriority.2.html (Notes)
 */
export function lowerPriority(priority: number = constants.priority.PRIORITY_LOW): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), priority)
  } catch {
    // Without /proc, or in a sandbox that forbids it: normal priority.
  }
}

/**
 * Lowers the priority of the whole process, including threads that V8 and the thread pool have already started: on
 * Linux a process's priority is only that of its first thread. New threads inherit it from their parent.
 */
export function lowerProcessPriority(priority: number = constants.priority.PRIORITY_LOW): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, priority)
    } catch {
      // The thread has ended, or a sandbox forbids it.
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
 * Keeps one of the allowed processors free of this process and its threads. A low priority is not enough to protect
 * request latency: if every processor is busy, waking a thread takes until the end of a time slice, about 3 ms on Linux
 * 6.18 (bench/RESULTS.md, rebuild).
 *
 * Node has no API for this; `taskset` is part of util-linux (Debian, Red Hat, Alpine). No effect without it, on other
 * systems, or with a single processor.
 * @see https://man7.org/linux/man-pages/man1/taskset.1.html
 */
export function spareOneCore(): void {
  const [, ...otherCores] = allowedCores()
  if (otherCores.length === 0) return
  const tasksetArguments = ['--all-tasks', '--cpu-list', '--pid', otherCores.join(','), String(process.pid)]
  spawnSync('taskset', tasksetArguments, { stdio: 'ignore' })
}

function allowedCores(): number[] {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return list === undefined ? [] : parseCpuList(list)
  } catch {
    return []
  }
}

/** @param list in Linux's format: `0-3,8` */
export function parseCpuList(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  })
}
