import { pace } from '../pace.ts'
import type { Document } from 'mongodb'
import type { CommandFault, Rule } from './proxy.ts'

/** The commands that write. */
export const WRITES: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'findAndModify', 'createIndexes'])

/** Applies a fault to the first `times` commands of a name on a collection; later ones pass. */
export function firstCommands(name: string, collection: string, fault: CommandFault, times = 1): Rule {
  let left = times
  return (command, body) => (command === name && body[command] === collection && left-- > 0 ? fault : undefined)
}

/** The response of a server that rejects a command with a code, such as 10107 (NotWritablePrimary). */
export const errorResponse = (code: number, codeName: string): Document => ({
  ok: 0,
  errmsg: `injected: ${codeName}`,
  code,
  codeName,
})

/** Milliseconds for which a driver waits for a primary before it fails. */
const SELECTION = 2_000

/** There is no primary, as during an election: commands fail after the driver's server selection timeout. */
export const election: Rule = () => ({ answer: pace(SELECTION).then(() => errorResponse(10107, 'NotWritablePrimary')) })

/**
 * The other members of the replica set hang: the primary executes writes, but a majority never acknowledges them. It responds
 * with a write concern error after the client's `wtimeout`, or without one when `over` resolves.
 */
export const hungMajority =
  (over: Promise<unknown>): Rule =>
  (name, body) => {
    if (!WRITES.has(name)) return undefined
    const { w, wtimeout } = (body['writeConcern'] ?? {}) as { w?: unknown; wtimeout?: unknown }
    if (w !== 'majority') return undefined
    const timeoutMs = Number(wtimeout ?? 0)
    if (timeoutMs === 0) return { until: over }
    const late = pace(timeoutMs).then(() => 'late' as const)
    return {
      change: async (answer) =>
        (await Promise.race([late, over])) === 'late' ? { ...answer, writeConcernError: TOO_LATE } : answer,
    }
  }

const TOO_LATE = {
  code: 64,
  codeName: 'WriteConcernTimeout',
  errmsg: 'waiting for replication timed out',
  errInfo: { wtimeout: true },
}
