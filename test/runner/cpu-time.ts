import { readFileSync } from 'node:fs'

/** What Linux counts in: 100 a second on every architecture that Node runs on. */
const TICKS = 100

/**
 * CPU seconds that this process has taken, and on Linux the processes that it started and that have ended, with all that
 * those waited for. Node tells of itself only.
 */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + endedSeconds()
}

function endedSeconds(): number {
  if (process.platform !== 'linux') return 0
  // The second field is the program's name, which may hold blanks and parentheses; behind it the state is the third.
  const [, behind = ''] = /.*\) (.*)/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
  const fields = behind.split(' ')
  return (Number(fields[CHILDREN_USER - 3]) + Number(fields[CHILDREN_SYSTEM - 3])) / TICKS
}

/** Their numbers in proc(5). */
const CHILDREN_USER = 16
const CHILDREN_SYSTEM = 17
