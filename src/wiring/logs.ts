import type { NoteSecurity, SecurityEvent } from '../domain/account/security-event.ts'
import { traceIdOf } from '../events/origin.ts'
import type { Seen } from '../http/middleware/access-log.ts'
import type { Log } from '../runtime/log.ts'
import type { Installation } from './installation.ts'

/**
 * One line a request, at `info`: which endpoint, by whom, how it went. Never a path, a query or a header, which may hold a
 * secret or a signature; addresses where LOG_ADDRESSES says so.
 */
export function requestLog({ log, settings }: Pick<Installation, 'log' | 'settings'>): (seen: Seen) => void {
  const { LOG_ADDRESSES } = settings
  return ({ requestId, trace, method, endpoint = null, status, milliseconds, bytes, account, address }) =>
    log.info(
      {
        request: requestId,
        trace: trace && traceIdOf(trace),
        method,
        endpoint,
        status,
        ms: Math.round(milliseconds * 100) / 100,
        bytes,
        account,
        address: LOG_ADDRESSES ? address() : undefined,
      },
      'request',
    )
}

/** What is no cause for alarm; everything else is a warning. */
const USUAL: ReadonlySet<SecurityEvent['event']> = new Set(['log-in', 'administration'])

/** Writes each event as a line of its own, whose `security` names it: `{"security":"log-in-failed","account":7,...}`. */
export function securityLog(log: Log): NoteSecurity {
  return ({ event, ...facts }) => {
    const level = USUAL.has(event) ? 'info' : 'warn'
    log[level]({ security: event, ...facts }, event.replaceAll('-', ' '))
  }
}
