import { pace } from '../pace.ts'
import type { Document } from 'mongodb'
import type { Fate, Rule } from './proxy.ts'

/** Commands that change something, as a client sends them. */
export const WRITES: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'findAndModify', 'createIndexes'])

/** The first so many commands of a name on a collection meet a fate; the others pass. */
export function first(name: string, collection: string, fate: Fate, times = 1): Rule {
  let left = times
  return (asked, body) => (asked === name && body[asked] === collection && left-- > 0 ? fate : undefined)
}

/** The answer of a server that refuses by a code, such as NotWritablePrimary, 10107. */
export const refusal = (code: number, codeName: string): Document => ({
  ok: 0,
  errmsg: `told: ${codeName}`,
  code,
  codeName,
})

/** Milliseconds for which a driver looks for a primary before it says that there is none. */
const SELECTION = 2_000

/** No member is the primary, for the seconds that an election takes: what is asked is refused when nobody was found. */
export const election: Rule = () => ({ answer: pace(SELECTION).then(() => refusal(10107, 'NotWritablePrimary')) })

/**
 * The other members of the replica set hang: the primary does what it is told, and never hears that a majority has it. It
 * says so after the time that the client gives it, and without one not before `over`.
 */
export const hungMajority =
  (over: Promise<unknown>): Rule =>
  (name, body) => {
    if (!WRITES.has(name)) return undefined
    const { w, wtimeout } = (body['writeConcern'] ?? {}) as { w?: unknown; wtimeout?: unknown }
    if (w !== 'majority') return undefined
    const patience = Number(wtimeout ?? 0)
    if (patience === 0) return { until: over }
    const late = pace(patience).then(() => 'late' as const)
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
