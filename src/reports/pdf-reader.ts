import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { z } from 'zod'
import { reportReading, type ReportReading } from '../domain/certification/certification.ts'
import { enforceLimits, selfKillTimeoutMs, type ProgramLimits } from '../runtime/program-limits.ts'
import { startProgram } from '../runtime/start-worker.ts'

/** The PDF can't be read: it is encrypted, broken, or exceeds a limit. A retry would not help. */
export class UnreadableReport extends Error {
  override readonly name = 'UnreadableReport'
}

export const PDF_READER_LIMITS: ProgramLimits = { timeoutMs: 10_000, maxMemoryBytes: 192 * 1024 * 1024 }

/** A report needs about 20 MB of heap. Decompressed pages are outside the heap but count as resident memory. */
const PROGRAM = {
  flags: ['--max-old-space-size=96', '--max-semi-space-size=4'],
  preload: ['pdfjs-dist/legacy/build/pdf.mjs', 'pdfjs-dist/legacy/build/pdf.worker.mjs'],
}

const readingSchema = reportReading.extend({ number: z.string().max(64).nullable() })

/** Reads reports in one low-priority process per PDF, with limits on time and memory. */
export class PdfReader {
  readonly #running = new Set<ChildProcessWithoutNullStreams>()
  #closed = false

  constructor(private readonly limits: ProgramLimits = PDF_READER_LIMITS) {}

  /** @throws UnreadableReport; another Error if the reader was closed meanwhile */
  async readReport(pdf: Buffer): Promise<ReportReading> {
    if (this.#closed) throw new Error('The reader is closed')
    const child = startProgram('./pdf-program', import.meta.url, {
      ...PROGRAM,
      arguments: [String(selfKillTimeoutMs(this.limits))],
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
