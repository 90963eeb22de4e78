import { Worker } from 'node:worker_threads'
import { groupIntoCells } from '../domain/certification/page-cells.ts'
import { parseReport } from '../domain/certification/report-parser.ts'
import { extractTextRuns } from './pdf-text.ts'

/**
 * A process that reads one PDF from stdin and prints what the report says, as one line of JSON, on stdout. Whatever is
 * wrong with the PDF stays here: the process that started it ends it when it takes too long or grows too large.
 */
function killAfterTimeout(): void {
  const source = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${MAX_LIFETIME_MS})`
  new Worker(source, { eval: true }).unref()
}

/** Milliseconds: nobody ends this process where the one that started it was killed. */
const MAX_LIFETIME_MS = Number(process.argv[2])

async function run(): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  const pages = await extractTextRuns(new Uint8Array(Buffer.concat(chunks.splice(0))))
  process.stdout.write(`${JSON.stringify(parseReport(pages.map(groupIntoCells)))}\n`, () => process.exit(0))
}

killAfterTimeout()
run().catch((error: unknown) => {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
  process.stderr.write(`${reason.slice(0, 200)}\n`, () => process.exit(1))
})
