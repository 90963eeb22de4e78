import { traceIdOf } from '../events/trace.ts'
import type { Seen } from '../http/kit/seen.ts'
import { REQUEST } from '../runtime/log.ts'
import type { Installation } from './installation.ts'

/**
 * One line a request, at `info`: which endpoint, by whom, how it went. Never a path, a query or a header, which may hold a
 * secret or a signature; addresses where LOG_ADDRESSES says so.
 */
export function requestLog({ log, settings }: Pick<Installation, 'log' | 'settings'>): (seen: Seen) => void {
  return ({ endpoint = null, method, status, milliseconds, bytes, account, requestId, trace, address }) => {
    const who = { ...(account !== undefined && { account }), ...(settings.LOG_ADDRESSES && { address: address() }) }
    const traced = trace !== undefined && { trace: traceIdOf(trace) }
    const ms = Math.round(milliseconds * 100) / 100
    log.info({ request: requestId, ...traced, method, endpoint, status, ms, bytes, ...who }, REQUEST)
  }
}
