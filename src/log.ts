import { destination, pino, type Logger } from 'pino'

export type Log = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** One JSON line an entry, on stderr: stdout belongs to results. */
export function openLog(level: (typeof LOG_LEVELS)[number]): Log {
  return pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, destination(2))
}
