import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino'
import { findRepeatedStoreError, StoreOutages } from './outages.ts'

/** Logs a failure that is retried or otherwise repaired, for operators. */
export type WarningLogger = (fields: Readonly<Record<string, unknown>>, message: string) => void

/** Without a logger: writes a line to stderr. */
export const emitWarning: WarningLogger = ({ err, ...fields }, message) => {
  const reason = err instanceof Error ? `: ${err.message}` : ''
  process.emitWarning(`${message} (${JSON.stringify(fields)})${reason}`)
}

export type AppLogger = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/**
 * Writes one JSON line per entry to stderr; stdout is for results. Entries with `repeats: true` and a store's error in
 * `err` are counted and summarized (outages.ts), since an outage would repeat them for each request.
 */
export function createLogger(level: (typeof LOG_LEVELS)[number], stream: DestinationStream = stderr()): AppLogger {
  const log = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      hooks: {
        logMethod(args, method) {
          const [entry] = args as unknown[]
          const fault = findRepeatedStoreError(entry)
          if (fault === undefined) method.apply(this, args)
          else outages.recordFailure(fault, { ...(entry as object), err: undefined, repeats: undefined })
        },
      },
    },
    stream,
  )
  const outages = new StoreOutages(log)
  return log
}

/**
 * Written by a thread, so that a slow reader of stderr blocks nothing; lines collected meanwhile go into its next
 * write.
 */
const stderr = () => destination({ dest: 2, maxWrite: 2 ** 20 })
