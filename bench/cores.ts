import { availableParallelism } from 'node:os'

/** The core of the services under test, and the core of the load. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

/** The command that runs `command` on one core; on a machine where that can't be, the command as it is. */
export function pinned(core: number, command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.platform !== 'linux' || availableParallelism() < 2) return command
  return ['taskset', '-c', String(core), ...command]
}
