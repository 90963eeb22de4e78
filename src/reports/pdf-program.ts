import { groupIntoCells } from '../domain/certification/page-cells.ts'
import { parseReport } from '../domain/certification/report-parser.ts'
import { killAfter } from '../runtime/program-limits.ts'
import { extractTextRuns } from './pdf-text.ts'

/**
 * A separate process that reads a PDF from stdin and prints the report's data as one line of JSON on stdout. It
 * isolates the service from malicious PDFs: the parent kills it if it takes too long or uses too much memory.
 */
async function run(): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  const pages = await extractTextRuns(new Uint8Array(Buffer.concat(chunks.splice(0))))
  process.stdout.write(`${JSON.stringify(parseReport(pages.map(groupIntoCells)))}\n`, () => process.exit(0))
}

killAfter(Number(process.argv[2]))
run().catch((error: unknown) => {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
  process.stderr.write(`${reason.slice(0, 200)}\n`, () => process.exit(1))
})
