import { availableParallelism } from 'node:os'

export const SERVER_CORE = 0
export const LOAD_CORE = 1

/** The command, pinned to one core where the platform allows it. */
export function pinToCore(core: number, command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.platform !== 'linux' || availableParallelism() < 2) return command
  return ['taskset', '-c', String(core), ...command]
}
