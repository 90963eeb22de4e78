import { readdirSync, readFileSync } from 'node:fs'
import { pace } from './pace.ts'
import { until } from './until.ts'

/**
 * Stops a process, and resolves when none of its threads runs any more: after SIGSTOP they go on until the kernel comes
 * to them, on a busy machine for tens of milliseconds, and may still answer. Where there is no /proc it can't be seen.
 */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await frozen(pid)
}

/** Resolves when a process stands still that is sent SIGSTOP, by whomever: a SIGCONT that came before would be lost. */
export async function frozen(pid: number): Promise<void> {
  await until(`process ${pid} to stand still`, () => process.platform !== 'linux' || !runs(pid))
}

/** Lets a process not run for so many milliseconds, as a machine that sleeps does. */
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

/** The state stands behind the thread's name: T when stopped, https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function isAwake(file: string): boolean {
  try {
    const stat = readFileSync(file, 'utf8')
    return 'RSD'.includes(stat.charAt(stat.lastIndexOf(')') + 2))
  } catch {
    return false // The thread has ended.
  }
}
