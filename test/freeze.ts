import { readdirSync, readFileSync } from 'node:fs'
import { pace } from './pace.ts'
import { until } from './until.ts'

/**
 * Stops a process and resolves when none of its threads runs any more. After SIGSTOP, threads may run on for tens of
 * milliseconds on a busy machine, and may still send responses. Without /proc it resolves at once.
 */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await untilFrozen(pid)
}

/** Resolves when a process that was sent SIGSTOP has stopped. A SIGCONT that arrives earlier would be lost. */
export async function untilFrozen(pid: number): Promise<void> {
  await until(`process ${pid} to stand still`, () => process.platform !== 'linux' || !runs(pid))
}

/** Suspends a process for some milliseconds, as a sleeping machine does. */
export async function stall(pid: number, milliseconds: number): Promise<void> {
  await freeze(pid)
  await pace(milliseconds)
  thaw(pid)
}

export function thaw(pid: number): void {
  process.kill(pid, 'SIGCONT')
}

function runs(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).some((thread) => isAwake(`/proc/${pid}/task/${thread}/stat`))
}

/** The state follows the thread's name: T when stopped, https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function isAwake(file: string): boolean {
  try {
    const stat = readFileSync(file, 'utf8')
    return 'RSD'.includes(stat.charAt(stat.lastIndexOf(')') + 2))
  } catch {
    return false // The thread has ended.
  }
}
