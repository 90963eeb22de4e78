import { destination, pino, type DestinationStream, type Logger } from 'pino'
import { Outages, storeFaultIn } from './outages.ts'

export type Log = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>

/** What a process logs to: it has a line of its own for what happens thousands of times a second. */
export type ProcessLog = Log & {
  /**
   * A line at `info` about a request, which waits a moment for others.
   * @param members of a JSON object as they stand in it, with a comma before each: `,"status":200`
   */
  readonly request: (members: string) => void
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** Bytes of lines about requests that are written at once, and milliseconds that they wait for each other. */
const GATHERED = 16_384
const GATHERING = 100

/**
 * Where lines go. Those about requests are gathered, since a system call for each would cost a tenth of a read; all others
 * are written at once, with what was gathered before them.
 */
class Lines implements DestinationStream {
  #gathered = ''
  #timer: NodeJS.Timeout | undefined

  readonly #flush = () => this.flush()

  constructor(private readonly to: DestinationStream) {}

  write(line: string): void {
    this.#gathered += line
    this.flush()
  }

  gather(line: string): void {
    this.#gathered += line
    if (this.#gathered.length > GATHERED) this.flush()
    else if (this.#timer === undefined) {
      // It keeps the process so long: one that ends by itself has its destination closed before `exit`.
      this.#timer = setTimeout(this.#flush, GATHERING)
      // Before the destination's own listener, which ends it.
      process.prependOnceListener('exit', this.#flush)
    }
  }

  flush(): void {
    if (this.#timer !== undefined) process.off('exit', this.#flush)
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#gathered
    this.#gathered = ''
    if (lines !== '') this.to.write(lines)
  }
}

/**
 * One JSON line an entry, on stderr: stdout belongs to results. Of entries that say by `repeats: true` that
 * many like them may come, those whose `err` is a store's being away are counted, and told in a few lines (outages.ts).
 */
export function openLog(level: (typeof LOG_LEVELS)[number], to: DestinationStream = destination(2)): ProcessLog {
  const lines = new Lines(to)
  const log = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      hooks: {
        logMethod(args, method) {
          const [entry] = args as unknown[]
          const fault = storeFaultIn(entry)
          if (fault === undefined) method.apply(this, args)
          else outages.failed(fault, { ...(entry as object), err: undefined, repeats: undefined })
        },
      },
    },
    lines,
  )
  const outages = new Outages((at, fields, message) => log[at](fields, message))
  return Object.assign(log, { request: requestLines(log, lines) })
}

/** Lines as pino writes them: to have it write each costs a GET a tenth more (docs/decisions/0070). */
function requestLines(log: Logger, lines: Lines): ProcessLog['request'] {
  if (!log.isLevelEnabled('info')) return () => undefined
  const began = `{"level":${log.levels.values['info']},"time":"`
  let at = 0
  let time = ''
  return (members) => {
    const now = Date.now()
    if (now !== at) time = new Date((at = now)).toISOString()
    lines.gather(`${began}${time}"${members},"msg":"request"}\n`)
  }
}
