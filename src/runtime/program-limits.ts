import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'

/** Limits of a separate process that reads files of unknown origin. */
export type ProgramLimits = {
  /** Milliseconds from start to result. */
  readonly timeoutMs: number
  /** Resident memory of the process in bytes. */
  readonly maxMemoryBytes: number
}

type LimitEnforcement = {
  /** The limit that the process exceeded, such as `it took more than 10000 ms`. */
  violation(): string | undefined
  stop(): void
}

/** Growth between two checks stays below 256 MB. */
const MEMORY_CHECK_INTERVAL_MS = 20

/** Kills the process when it exceeds a limit, and gives requests precedence over it. */
export function enforceLimits(child: ChildProcess, { timeoutMs, maxMemoryBytes }: ProgramLimits): LimitEnforcement {
  let violation: string | undefined
  const kill = (reason: string) => {
    violation = reason
    child.kill('SIGKILL')
  }
  const timeoutTimer = setTimeout(() => kill(`it took more than ${timeoutMs} ms`), timeoutMs)
  const memoryTimer = setInterval(() => {
    if (residentBytes(child.pid) > maxMemoryBytes) kill(`it took more than ${maxMemoryBytes} bytes of memory`)
  }, MEMORY_CHECK_INTERVAL_MS)
  if (child.pid !== undefined) lowerChildPriority(child.pid)
  return {
    violation: () => violation,
    stop() {
      clearTimeout(timeoutTimer)
      clearInterval(memoryTimer)
    },
  }
}

/** Requests take precedence. */
function lowerChildPriority(pid: number): void {
  try {
    setPriority(pid, 10)
  } catch {
    // The process has ended already, or the system denies it; it then runs with normal priority.
  }
}

const PAGE_BYTES = 4096

/** Linux: second number of /proc/[pid]/statm, in pages. Returns 0 elsewhere, where only time and heap are limited. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'ascii').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}

/** The process ends itself some time after its timeout, in case its parent was killed. */
const SELF_KILL_GRACE_MS = 10_000
const MAX_TIMER_MS = 2 ** 31 - 1

/** Milliseconds for `killAfter` in the process. */
export const selfKillTimeoutMs = ({ timeoutMs }: ProgramLimits): number =>
  Math.min(timeoutMs + SELF_KILL_GRACE_MS, MAX_TIMER_MS)

/** Kills this process after a time, also while its main thread is busy. */
export function killAfter(milliseconds: number): void {
  const source = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${milliseconds})`
  new Worker(source, { eval: true }).unref()
}
