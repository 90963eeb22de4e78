import type { NoteSecurity, SecurityEvent } from '../domain/account/security-event.ts'
import type { Log } from '../runtime/log.ts'

/** What is no cause for alarm; everything else is a warning. */
const USUAL: ReadonlySet<SecurityEvent['event']> = new Set(['log-in', 'administration'])

/** Writes each event as a line of its own, whose `security` names it: `{"security":"log-in-failed","account":7,...}`. */
export function securityLog(log: Log): NoteSecurity {
  return ({ event, ...facts }) => {
    const level = USUAL.has(event) ? 'info' : 'warn'
    log[level]({ security: event, ...facts }, event.replaceAll('-', ' '))
  }
}
