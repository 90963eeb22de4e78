import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { z } from 'zod'
import { reportReading, type ReportReading } from '../domain/certification/certification.ts'
import { startProgram } from '../runtime/start-worker.ts'

/** The PDF can't be read: it is encrypted, broken, or exceeds a limit. A retry would not help. */
export class UnreadableReport extends Error {
  override readonly name = 'UnreadableReport'
}

export type PdfReaderLimits = {
  /** Milliseconds from start to result. */
  readonly timeoutMs: number
  /** Resident memory of the process in bytes. */
  readonly maxMemoryBytes: number
}

export const PDF_READER_LIMITS: PdfReaderLimits = { timeoutMs: 10_000, maxMemoryBytes: 192 * 1024 * 1024 }

/** A report needs about 20 MB of heap. Decompressed pages are outside the heap but count as resident memory. */
const PROGRAM = {
  flags: ['--max-old-space-size=96', '--max-semi-space-size=4'],
  preload: ['pdfjs-dist/legacy/build/pdf.mjs', 'pdfjs-dist/legacy/build/pdf.worker.mjs'],
}

/** After the timeout the process ends itself, in case its parent was killed. */
const SELF_KILL_GRACE_MS = 10_000
const MAX_TIMER_MS = 2 ** 31 - 1

/** Growth between two checks stays below 256 MB. */
const MEMORY_CHECK_INTERVAL_MS = 20

const readingSchema = reportReading.extend({ number: z.string().max(64).nullable() })

/** Reads reports in one low-priority process per PDF, with limits on time and memory. */
export class PdfReader {
  readonly #running = new Set<ChildProcessWithoutNullStreams>()
  #closed = false

  constructor(private readonly limits: PdfReaderLimits = PDF_READER_LIMITS) {}

  /** @throws UnreadableReport; another Error if the reader was closed meanwhile */
  async readReport(pdf: Buffer): Promise<ReportReading> {
    if (this.#closed) throw new Error('The reader is closed')
    const child = startProgram('./pdf-program', import.meta.url, {
      ...PROGRAM,
      arguments: [String(Math.min(this.limits.timeoutMs + SELF_KILL_GRACE_MS, MAX_TIMER_MS))],
    })
    this.#running.add(child)
    const limiter = enforceLimits(child, this.limits)
    try {
      const { output, errorMessage } = await exchangeWithProcess(child, pdf)
      if (this.#closed) throw new Error('The reader was closed')
      return parseOutput(output, limiter.violation() ?? errorMessage)
    } finally {
      limiter.stop()
      this.#running.delete(child)
    }
  }

  close(): void {
    this.#closed = true
    for (const child of this.#running) child.kill('SIGKILL')
  }
}

function parseOutput(output: string, errorMessage: string): ReportReading {
  try {
    // The last line, because pdf.js may have printed warnings before it.
    return readingSchema.parse(JSON.parse(output.trim().split('\n').at(-1) ?? ''))
  } catch {
    throw new UnreadableReport(errorMessage === '' ? 'the reading process ended without output' : errorMessage)
  }
}

const MAX_OUTPUT_CHARACTERS = 10_000

async function exchangeWithProcess(child: ChildProcessWithoutNullStreams, pdf: Buffer) {
  let output = ''
  let errorOutput = ''
  child.stdout.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(0, MAX_OUTPUT_CHARACTERS)))
  child.stderr.on(
    'data',
    (chunk: Buffer) => (errorOutput = (errorOutput + chunk.toString()).slice(0, MAX_OUTPUT_CHARACTERS)),
  )
  // A process that ends before it has read its input breaks the pipe; stderr has the reason.
  child.stdin.on('error', () => undefined)
  child.stdin.end(pdf)
  await new Promise<void>((done, fail) => {
    child.on('error', fail)
    child.on('close', () => done())
  })
  return { output, errorMessage: errorLineOf(errorOutput) }
}

/** The line with the error; the JavaScript engine may print more around it. */
const errorLineOf = (errorOutput: string) => /^\w*(?:Exception|Error): .{0,200}/m.exec(errorOutput)?.[0] ?? ''

function enforceLimits(child: ChildProcessWithoutNullStreams, { timeoutMs, maxMemoryBytes }: PdfReaderLimits) {
  let violation: string | undefined
  const kill = (reason: string) => {
    violation = reason
    child.kill('SIGKILL')
  }
  const timeoutTimer = setTimeout(() => kill(`it took more than ${timeoutMs} ms`), timeoutMs)
  const memoryTimer = setInterval(() => {
    if (residentBytes(child.pid) > maxMemoryBytes) kill(`it took more than ${maxMemoryBytes} bytes of memory`)
  }, MEMORY_CHECK_INTERVAL_MS)
  if (child.pid !== undefined) lowerChildPriority(child.pid)
  return {
    violation: () => violation,
    stop() {
      clearTimeout(timeoutTimer)
      clearInterval(memoryTimer)
    },
  }
}

/** Requests take precedence. */
function lowerChildPriority(pid: number): void {
  try {
    setPriority(pid, 10)
  } catch {
    // The process has ended already, or the system denies it; it then runs with normal priority.
  }
}

const PAGE_BYTES = 4096

/** Linux: second number of /proc/[pid]/statm, in pages. Returns 0 elsewhere, where only time and heap are limited. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'ascii').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}
