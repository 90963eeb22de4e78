import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

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
    return list === undefined ? [] : coresIn(list)
  } catch {
    return []
  }
}

/** @param list as Linux writes it: `0-3,8` */
export function coresIn(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  })
}
