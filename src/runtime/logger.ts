import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino'
import { findRepeatedStoreError, StoreOutages } from './outages.ts'

/** Told of what failed and is made up for later: nobody waits for it, and an operator wants to know. */
export type WarningLogger = (found: Readonly<Record<string, unknown>>, sentence: string) => void

/** Where nobody listens: a line on stderr. */
export const emitWarning: WarningLogger = ({ err, ...found }, sentence) => {
  const reason = err instanceof Error ? `: ${err.message}` : ''
  process.emitWarning(`${sentence} (${JSON.stringify(found)})${reason}`)
}

export type AppLogger = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/**
 * One JSON line an entry, on stderr: stdout belongs to results. Of entries that say by `repeats: true` that
 * many like them may come, those whose `err` is a store's are counted, and told in a few lines (outages.ts).
 */
export function createLogger(level: (typeof LOG_LEVELS)[number], to: DestinationStream = stderr()): AppLogger {
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
    to,
  )
  const outages = new StoreOutages(log)
  return log
}

/** A thread writes, so that a slow reader of stderr holds nobody up; what comes while it does is its next write. */
const stderr = () => destination({ dest: 2, maxWrite: 2 ** 20 })
