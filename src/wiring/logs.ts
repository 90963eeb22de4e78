import type { SecurityEventRecorder, SecurityEvent } from '../domain/account/security-event.ts'
import { traceIdOf } from '../events/event-metadata.ts'
import type { RequestLogEntry } from '../http/middleware/access-log.ts'
import type { AppLogger } from '../runtime/logger.ts'
import type { Installation } from './installation.ts'

/**
 * Logs one line per request, at `info`: endpoint, account, status, duration. Never paths, queries or headers, which may
 * contain secrets or signatures; client addresses only with LOG_ADDRESSES.
 */
export function createRequestLogger({
  log,
  settings,
}: Pick<Installation, 'log' | 'settings'>): (entry: RequestLogEntry) => void {
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

/** Events logged at `info`; all others are warnings. */
const INFO_LEVEL_EVENTS: ReadonlySet<SecurityEvent['event']> = new Set(['log-in', 'administration'])

/**
 * Logs each security event as a separate line, named by `security`: `{"security":"log-in-failed","account":7,...}`.
 */
export function createSecurityLogger(log: AppLogger): SecurityEventRecorder {
  return ({ event, ...facts }) => {
    const level = INFO_LEVEL_EVENTS.has(event) ? 'info' : 'warn'
    log[level]({ security: event, ...facts }, event.replaceAll('-', ' '))
  }
}
