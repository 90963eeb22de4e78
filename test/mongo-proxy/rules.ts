import { pace } from '../pace.ts'
import type { Document } from 'mongodb'
import type { CommandFault, Rule } from './proxy.ts'

/** The commands that write. */
export const WRITES: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'findAndModify', 'createIndexes'])

/** Applies a fault to the first `times` commands of a name on a collection; later ones pass. */
export function firstCommands(name: string, collection: string, fault: CommandFault, times = 1): Rule {
  let remaining = times
  return (command, body) => (command === name && body[command] === collection && remaining-- > 0 ? fault : undefined)
}

/** The response of a server that rejects a command with a code, such as 10107 (NotWritablePrimary). */
export const errorResponse = (code: number, codeName: string): Document => ({
  ok: 0,
  errmsg: `injected: ${codeName}`,
  code,
  codeName,
})

/** Milliseconds for which a driver waits for a primary before it fails. */
const SERVER_SELECTION_TIMEOUT_MS = 2_000

/** There is no primary, as during an election: commands fail after the driver's server selection timeout. */
export const election: Rule = () => ({
  response: pace(SERVER_SELECTION_TIMEOUT_MS).then(() => errorResponse(10107, 'NotWritablePrimary')),
})

/**
 * The other members of the replica set hang: the primary executes writes, but a majority never acknowledges them. It responds
 * with a write concern error after the client's `wtimeout`, or without one when `recovered` resolves.
 */
export const hungMajority =
  (recovered: Promise<unknown>): Rule =>
  (name, body) => {
    if (!WRITES.has(name)) return undefined
    const { w, wtimeout } = (body['writeConcern'] ?? {}) as { w?: unknown; wtimeout?: unknown }
    if (w !== 'majority') return undefined
    const timeoutMs = Number(wtimeout ?? 0)
    if (timeoutMs === 0) return { until: recovered }
    const timedOut = pace(timeoutMs).then(() => 'late' as const)
    return {
      change: async (response) =>
        (await Promise.race([timedOut, recovered])) === 'late'
          ? { ...response, writeConcernError: WRITE_CONCERN_ERROR }
          : response,
    }
  }

const WRITE_CONCERN_ERROR = {
  code: 64,
  codeName: 'WriteConcernTimeout',
  errmsg: 'waiting for replication timed out',
  errInfo: { wtimeout: true },
}
