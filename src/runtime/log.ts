import { destination, pino, type DestinationStream, type Logger } from 'pino'
import { Outages, storeFaultIn } from './outages.ts'

export type Log = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>

/** A line whose text is made when it is written. It is kept until then: it may hold nothing large. */
export type LateLine = {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The members of its JSON object between the time and the message, with a comma before each: `,"status":200`. */
  members(): string
}

/** What a process logs to: it has a way of its own for what happens thousands of times a second. */
export type ProcessLog = Log & {
  /** Of a request, at `info`: it waits a moment for others; undefined where the log's level leaves such lines out. */
  readonly request: ((line: LateLine) => void) | undefined
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** Lines about requests that are written at once, and milliseconds that they wait for each other. */
const GATHERED = 512
const GATHERING = 100

/**
 * Where lines go. Those about requests are gathered and put into words together, since a write of each would cost a tenth of a
 * read, and its words as much again; all others are written at once, with what was gathered before them.
 */
class Lines implements DestinationStream {
  #gathered: LateLine[] = []
  #timer: NodeJS.Timeout | undefined

  readonly #flush = () => this.flush()

  constructor(
    private readonly to: DestinationStream,
    private readonly textOf: (line: LateLine) => string,
  ) {}

  write(line: string): void {
    this.flush()
    this.to.write(line)
  }

  gather(line: LateLine): void {
    this.#gathered.push(line)
    if (this.#gathered.length >= GATHERED) this.flush()
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
    if (lines.length === 0) return
    this.#gathered = []
    let text = ''
    for (const line of lines) text += this.textOf(line)
    this.to.write(text)
  }
}

/**
 * One JSON line an entry, on stderr: stdout belongs to results. Of entries that say by `repeats: true` that
 * many like them may come, those whose `err` is a store's being away are counted, and told in a few lines (outages.ts).
 */
export function openLog(level: (typeof LOG_LEVELS)[number], to: DestinationStream = stderr()): ProcessLog {
  const lines = new Lines(to, requestLine)
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
  const request = log.isLevelEnabled('info') ? (line: LateLine) => lines.gather(line) : undefined
  return Object.assign(log, { request })
}

/** A thread writes, so that a slow reader of stderr holds nobody up: to wake it costs much more than what it writes. */
const stderr = () => destination({ dest: 2, maxWrite: 2 ** 20 })

/** As pino would write it; to have it do so costs a GET a tenth more (docs/decisions/0069). */
const requestLine = (line: LateLine): string =>
  `{"level":${pino.levels.values['info']},"time":"${timeOf(line.at)}"${line.members()},"msg":"request"}\n`

/** Dozens of requests end in the same millisecond, whose words are made once. */
const last = { at: NaN, time: '' }
function timeOf(at: number): string {
  if (at !== last.at) {
    last.at = at
    last.time = new Date(at).toISOString()
  }
  return last.time
}
