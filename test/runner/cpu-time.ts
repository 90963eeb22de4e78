import { readFileSync } from 'node:fs'

/** Clock ticks per second (USER_HZ): 100 on every architecture that Node runs on. */
const TICKS = 100

/**
 * CPU seconds of this process and, on Linux, of its terminated descendants that were waited for. Node itself reports its
 * own process only.
 */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + endedSeconds()
}

function endedSeconds(): number {
  if (process.platform !== 'linux') return 0
  // The second field is the program's name, which may contain blanks and parentheses. The third, the state, follows it.
  const [, behind = ''] = /.*\) (.*)/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
  const fields = behind.split(' ')
  return (Number(fields[CHILDREN_USER - 3]) + Number(fields[CHILDREN_SYSTEM - 3])) / TICKS
}

/** Field numbers of proc_pid_stat(5), cutime and cstime. */
const CHILDREN_USER = 16
const CHILDREN_SYSTEM = 17
