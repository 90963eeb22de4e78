import type { SecurityEventRecorder, SecurityEvent } from '../domain/account/security-event.ts'
import { traceIdOf } from '../events/event-metadata.ts'
import type { RequestLogEntry } from '../http/middleware/access-log.ts'
import type { AppLogger } from '../runtime/logger.ts'
import type { Installation } from './installation.ts'

/**
 * One line a request, at `info`: which endpoint, by whom, how it went. Never a path, a query or a header, which may hold a
 * secret or a signature; addresses where LOG_ADDRESSES says so.
 */
export function createRequestLogger({
  log,
  settings,
}: Pick<Installation, 'log' | 'settings'>): (seen: RequestLogEntry) => void {
  const { LOG_ADDRESSES } = settings
  return ({ requestId, trace, method, endpoint = null, status, durationMs, responseBytes, account, clientAddress }) =>
    log.info(
      {
        request: requestId,
        trace: trace && traceIdOf(trace),
        method,
        endpoint,
        status,
        ms: Math.round(durationMs * 100) / 100,
        bytes: responseBytes,
        account,
        address: LOG_ADDRESSES ? clientAddress() : undefined,
      },
      'request',
    )
}

/** What is no cause for alarm; everything else is a warning. */
const INFO_LEVEL_EVENTS: ReadonlySet<SecurityEvent['event']> = new Set(['log-in', 'administration'])

/** Writes each event as a line of its own, whose `security` names it: `{"security":"log-in-failed","account":7,...}`. */
export function createSecurityLogger(log: AppLogger): SecurityEventRecorder {
  return ({ event, ...facts }) => {
    const level = INFO_LEVEL_EVENTS.has(event) ? 'info' : 'warn'
    log[level]({ security: event, ...facts }, event.replaceAll('-', ' '))
  }
}
