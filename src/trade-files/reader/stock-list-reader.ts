import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { enforceLimits, selfKillTimeoutMs, type ProgramLimits } from '../../runtime/program-limits.ts'
import { startProgram } from '../../runtime/start-worker.ts'
import { UnreadableFile, UnusableOption } from '../errors.ts'
import type { UsableLine } from '../findings.ts'
import type { OpenStockList } from '../reading.ts'
import type { ReadingMessage, ReadingTask } from './messages.ts'

/** A workbook of 200 MB when unpacked takes some 800 MB of memory. */
const STOCK_LIST_LIMITS: ProgramLimits = { timeoutMs: 15 * 60_000, maxMemoryBytes: 2 ** 30 }

const PROGRAM = { flags: ['--max-old-space-size=768'], preload: [] }

/** Reads uploaded stock lists, each in a low-priority process with limits on time and memory. */
export class StockListReader {
  readonly #running = new Set<ChildProcessWithoutNullStreams>()
  #closed = false

  constructor(private readonly limits: ProgramLimits = STOCK_LIST_LIMITS) {}

  /** @throws UnreadableFile, UnusableOption; another Error if the reader is closed */
  async open(task: ReadingTask): Promise<OpenStockList> {
    const messages = this.#run(task)
    const first = await messages.next()
    if (first.done === true || !('reading' in first.value)) throw new Error('the reading process printed no reading')
    return {
      reading: first.value.reading,
      lines: linesOf(messages),
      pdfFolder: task.folder,
      close: async () => void (await messages.return()),
    }
  }

  close(): void {
    this.#closed = true
    for (const child of this.#running) child.kill('SIGKILL')
  }

  /** The messages before the end. The process ends with the loop over them. */
  async *#run(task: ReadingTask): AsyncGenerator<ReadingMessage, void> {
    if (this.#closed) throw new Error('the reader is closed')
    const child = startProgram('./reading-program', import.meta.url, {
      ...PROGRAM,
      arguments: [String(selfKillTimeoutMs(this.limits))],
    })
    this.#running.add(child)
    const limiter = enforceLimits(child, this.limits)
    const errorOutput = collectText(child)
    // A process that ends early breaks the pipe; its exit has the reason.
    child.stdin.on('error', () => undefined)
    child.stdin.end(JSON.stringify(task))
    const closed = new Promise<void>((resolve, reject) => child.once('close', () => resolve()).once('error', reject))
    // It is awaited only after the last message.
    closed.catch(() => undefined)
    try {
      for await (const message of messagesOf(child.stdout)) {
        if ('end' in message) return
        if ('unreadable' in message) throw new UnreadableFile(message.unreadable)
        if ('unusableOption' in message) {
          const { option, key, reason } = message.unusableOption
          throw new UnusableOption(option, key, reason)
        }
        yield message
      }
      await closed
      if (this.#closed) throw new Error('the reader was closed')
      const violation = limiter.violation()
      if (violation !== undefined || isOutOfMemory(errorOutput()))
        throw new UnreadableFile(
          `is too large to be read (${violation ?? 'not enough memory'}); divide it, or save it as CSV`,
        )
      throw new Error(`the reading process failed: ${errorOutput()}`)
    } finally {
      limiter.stop()
      child.kill('SIGKILL')
      this.#running.delete(child)
    }
  }
}

async function* linesOf(messages: AsyncIterable<ReadingMessage>): AsyncGenerator<UsableLine> {
  for await (const message of messages) if ('lines' in message) yield* message.lines
}

/** The JavaScript engine ends a process that exceeds its heap. */
const isOutOfMemory = (errorOutput: string): boolean => errorOutput.includes('heap out of memory')

const MAX_ERROR_CHARACTERS = 10_000

function collectText({ stderr }: ChildProcessWithoutNullStreams): () => string {
  let text = ''
  stderr.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(0, MAX_ERROR_CHARACTERS)))
  return () => text
}

async function* messagesOf(output: AsyncIterable<Buffer>): AsyncGenerator<ReadingMessage> {
  const decoder = new TextDecoder()
  let partialLine: string[] = []
  for await (const chunk of output) {
    const [first = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n')
    partialLine.push(first)
    for (const line of lines) {
      yield JSON.parse(partialLine.join('')) as ReadingMessage
      partialLine = [line]
    }
  }
}
