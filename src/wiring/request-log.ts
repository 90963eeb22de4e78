import { traceIdOf } from '../events/trace.ts'
import type { Seen } from '../http/kit/seen.ts'
import type { Installation } from './installation.ts'

/**
 * One line a request, at `info`: which endpoint, by whom, how it went. Never a path, a query or a header, which may hold a
 * secret or a signature; addresses where LOG_ADDRESSES says so.
 */
export function requestLog({ log, settings }: Pick<Installation, 'log' | 'settings'>): (seen: Seen) => void {
  const { LOG_ADDRESSES } = settings
  return ({ endpoint, method, status, milliseconds, bytes, account, requestId, trace, address }) => {
    // Names of endpoints and methods are ours or the parser's; what a caller chose is quoted.
    const traced = trace === undefined ? '' : `,"trace":"${traceIdOf(trace)}"`
    const asked = `,"method":"${method}","endpoint":${endpoint === undefined ? 'null' : `"${endpoint}"`}`
    const took = `,"status":${status},"ms":${Math.round(milliseconds * 100) / 100},"bytes":${bytes}`
    const by = account === undefined ? '' : `,"account":${account}`
    const from = LOG_ADDRESSES ? `,"address":${JSON.stringify(address())}` : ''
    log.request(`,"request":${JSON.stringify(requestId)}${traced}${asked}${took}${by}${from}`)
  }
}
